/** How long this thread has worked, in seconds: what counts is what it did, not how busy the machine is. */
export function threadSeconds(): number {
  // Node 20 knows the time of the whole process only, in which all threads are counted.
  if (process.threadCpuUsage === undefined) return performance.now() / 1_000
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1e6
}
