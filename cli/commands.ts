/** All commands, in the order of the help. */
import type { Command } from './command.ts'
import { acquire } from './commands/acquire.ts'
import { config } from './commands/config.ts'
import { remove } from './commands/delete.ts'
import { eject } from './commands/eject.ts'
import { exportLock } from './commands/export.ts'
import { get } from './commands/get.ts'
import { history } from './commands/history.ts'
import { importLock } from './commands/import.ts'
import { key } from './commands/key.ts'
import { list } from './commands/list.ts'
import { locks } from './commands/locks.ts'
import { members } from './commands/members.ts'
import { put } from './commands/put.ts'
import { release } from './commands/release.ts'
import { run } from './commands/run.ts'
import { start } from './commands/start.ts'
import { status } from './commands/status.ts'
import { transact } from './commands/transact.ts'
import { watch } from './commands/watch.ts'

export const COMMANDS: readonly Command[] = [
  run,
  acquire,
  release,
  get,
  put,
  list,
  transact,
  watch,
  status,
  locks,
  eject,
  history,
  config,
  members,
  exportLock,
  importLock,
  remove,
  key,
  start,
]
