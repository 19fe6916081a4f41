/** What must not be left behind, if this process ends before whoever made it could remove it. */
const leftovers = new Set<() => void>()

process.once('exit', () => {
  for (const cleanUp of [...leftovers].reverse()) cleanUp()
})

/** It cannot wait for anything. Returns how to take it back, once there is nothing left to do. */
export function atExit(cleanUp: () => void): () => void {
  leftovers.add(cleanUp)
  return () => leftovers.delete(cleanUp)
}
