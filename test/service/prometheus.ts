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
      if (types.has(family!) || !['counter', 'gauge'].includes(rest!))
        throw new Error(`a wrong type: ${line}`)
      types.set(family!, rest!)
      current = family!
    } else {
      const sample = parseSample(line)
      if (sample.name !== current || !help.has(sample.name)) throw new Error(`out of its family: ${line}`)
      if (types.get(sample.name) === 'counter' && !sample.name.endsWith('_total'))
        throw new Error(`a counter is called …_total: ${line}`)
      const series = line.slice(0, line.lastIndexOf(' '))
      if (seen.has(series)) throw new Error(`twice: ${series}`)
      seen.add(series)
      samples.push(sample)
    }
  }
  return samples
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
