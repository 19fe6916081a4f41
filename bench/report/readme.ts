/** The speed that the README quotes: its sentence stays as it is, and its figures are those of the result. */
import type { CaseName } from '../case.ts'
import { BATON, type Result, rowFor } from '../result.ts'

const FIGURE = '[\\d.]+'
/** Words may stand on different lines. */
const words = (text: string): string => `(${text.replaceAll(' ', '\\s+')})`
const SENTENCE = new RegExp(
  [
    words('taking the lock again takes '),
    words(' times as long, one operation '),
    words(' times, and a whole `transact` '),
    words(' times\\.'),
  ].join(FIGURE),
)

/** The README with these figures. A result that has none of them changes nothing. */
export function withSpeed(readme: string, { rows }: Pick<Result, 'rows'>): string {
  const found = SENTENCE.exec(readme)
  if (found === null) throw new Error('the README has no sentence about the speed')
  const ratio = (name: CaseName) => rowFor(rows, BATON, name)?.ratio?.median.toFixed(2)
  const figures = [ratio('acquire and release'), ratio('one operation'), ratio('transact')]
  if (figures.includes(undefined)) return readme
  const [whole, ...between] = found
  const [again, operation, transact] = figures
  const sentence = `${between[0]}${again}${between[1]}${operation}${between[2]}${transact}${between[3]}`
  return readme.replace(whole, () => sentence)
}
