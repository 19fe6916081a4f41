/** Where the lines of the log go: to the console, which the platform collects. */
import type { LogEntry } from '../shared/log.ts'

export function logToConsole(entry: LogEntry): void {
  const line = JSON.stringify(entry)
  if (entry.level === 'error') console.error(line)
  else if (entry.level === 'warning') console.warn(line)
  else console.log(line)
}
