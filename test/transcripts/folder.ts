/** Where the golden transcripts are: they are documentation. */
import { fileURLToPath } from 'node:url'

export const FOLDER = fileURLToPath(new URL('../../docs/transcripts', import.meta.url))
