/**
 * `npm run page`: builds the page that the service has at `/`, if it is missing or older than its sources.
 */
import { builtPage } from '../worker/local/page-folder.ts'

console.log(`The page is in ${await builtPage()}.`)
