/** The launcher is killed as soon as it has started its runtime. */
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

const { spawn } = childProcess
childProcess.spawn = (program, args, options) => {
  const child = spawn(program, args, options)
  if (args.includes('serve')) process.kill(process.pid, 'SIGKILL')
  return child
}
syncBuiltinESMExports()
