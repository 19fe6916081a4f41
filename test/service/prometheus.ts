/**
 * Reads the text format of Prometheus as its scraper does, and complains about anything that the scraper
 * would not accept.
 */

export interface Sample {
  readonly name: string
  readonly labels: { readonly [label: string]: string }
  readonly value: number
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"'
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`)
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?)$`)
const UNITS = /_(?:seconds|bytes|ratio|info)$/

export function parsePrometheus(text: string): Sample[] {
  if (!text.endsWith('\n')) throw new Error('the last line does not end')
  const help = new Set<string>()
  const types = new Map<string, string>()
  const samples: Sample[] = []
  const seen = new Set<string>()
  let current = ''
  for (const line of text.slice(0, -1).split('\n')) {
    const [, keyword, family, rest] = COMMENT.exec(line) ?? []
    if (keyword === 'HELP') {
      if (help.has(family!)) throw new Error(`${family} is helped twice`)
      help.add(family!)
    } else if (keyword === 'TYPE') {
      if (types.has(family!) || !['counter', 'gauge', 'histogram'].includes(rest!))
        throw new Error(`a wrong type: ${line}`)
      types.set(family!, rest!)
      current = family!
    } else {
      const sample = parseSample(line)
      if (!isOf(current, types.get(current), sample) || !help.has(current))
        throw new Error(`out of its family: ${line}`)
      if (types.get(sample.name) === 'counter' && !sample.name.endsWith('_total'))
        throw new Error(`a counter is called …_total: ${line}`)
      const series = line.slice(0, line.lastIndexOf(' '))
      if (seen.has(series)) throw new Error(`twice: ${series}`)
      seen.add(series)
      samples.push(sample)
    }
  }
  for (const [family, type] of types) if (type === 'histogram') checkHistogram(family, samples)
  return samples
}

function isOf(family: string, type: string | undefined, { name, labels }: Sample): boolean {
  if (type !== 'histogram') return name === family
  if (name === `${family}_bucket`) return labels.le !== undefined
  return (name === `${family}_sum` || name === `${family}_count`) && labels.le === undefined
}

/**
 * Of each series: buckets that grow with their bounds, the last of them without one, as many as are counted.
 */
function checkHistogram(family: string, samples: readonly Sample[]): void {
  if (!UNITS.test(family)) throw new Error(`${family} has no unit`)
  const keyOf = ({ le: _, ...labels }: Sample['labels']) => JSON.stringify(labels)
  const named = (name: string) => samples.filter(sample => sample.name === `${family}_${name}`)
  for (const { labels, value: count } of named('count')) {
    const own = named('bucket').filter(bucket => keyOf(bucket.labels) === keyOf(labels))
    const bounds = own.map(bucket =>
      bucket.labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(bucket.labels.le),
    )
    const isRising = (numbers: readonly number[], isStrict: boolean) =>
      numbers.every(
        (number, index) =>
          index === 0 || (isStrict ? number > numbers[index - 1]! : number >= numbers[index - 1]!),
      )
    const values = own.map(({ value }) => value)
    if (!isRising(bounds, true) || bounds.at(-1) !== Number.POSITIVE_INFINITY || bounds.some(Number.isNaN))
      throw new Error(`${family} has wrong bounds: ${bounds}`)
    if (!isRising(values, false) || values.at(-1) !== count)
      throw new Error(`${family} is not cumulative: ${values}`)
    if (named('sum').filter(sum => keyOf(sum.labels) === keyOf(labels)).length !== 1)
      throw new Error(`${family} has no sum`)
  }
  if (named('count').length * (named('bucket').length > 0 ? 1 : 0) !== named('sum').length)
    throw new Error(`${family} is not whole`)
}

function parseSample(line: string): Sample {
  const [, name, labels = '', value] = SAMPLE.exec(line) ?? []
  if (name === undefined || !Number.isFinite(Number(value))) throw new Error(`not a sample: ${line}`)
  const pairs = [...labels.matchAll(new RegExp(LABEL, 'g'))].map(([pair]) => {
    const at = pair.indexOf('=')
    return [pair.slice(0, at), JSON.parse(pair.slice(at + 1)) as string] as const
  })
  return { name, labels: Object.fromEntries(pairs), value: Number(value) }
}
