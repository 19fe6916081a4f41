/** What an npm script runs first that is not started with typescript.mjs. */
import { installIfMissing } from './install-if-missing.mjs'

installIfMissing()
