/** What the package's names stand for inside of this project, where nothing is built or installed. */
import { join } from 'node:path'
import { ROOT } from './markdown.ts'

export const PACKAGE = '@baton-lock/baton'

export const PACKAGE_PATHS: { readonly [name: string]: string } = {
  [`${PACKAGE}/client`]: join(ROOT, 'client/index.ts'),
  [`${PACKAGE}/resource`]: join(ROOT, 'shared/resource/define.ts'),
  [`${PACKAGE}/recipes`]: join(ROOT, 'recipes/index.ts'),
  [`${PACKAGE}/testing`]: join(ROOT, 'testing/index.ts'),
  [PACKAGE]: join(ROOT, 'worker/library.ts'),
}
