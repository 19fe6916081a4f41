/** The ledger of a process is an object beside those of its locks. No lock's name begins with a dot. */
export const LEDGER_NAME = '.ledger'
