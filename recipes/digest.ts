/** 64 bits of a text (FNV-1a), where there is no room for all of it. */
export function digestOf(key: string): string {
  let hash = 0xcbf29ce484222325n
  for (let index = 0; index < key.length; index++)
    hash = BigInt.asUintN(64, (hash ^ BigInt(key.charCodeAt(index))) * 0x100000001b3n)
  return hash.toString(16).padStart(16, '0')
}
