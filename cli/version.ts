/** The version of the package that this file is in: of the repository, or of what was installed. */
import { readFileSync } from 'node:fs'

export function versionOf(): string {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      return (JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { version: string }).version
    } catch {
      // Built files are one folder deeper.
    }
  }
  return 'unknown'
}
