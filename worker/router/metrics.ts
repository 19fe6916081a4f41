/** Counters of one isolate, in the text format of Prometheus. They begin at zero whenever an isolate does. */

/** Routes, statuses, codes and participants are few, but a method can be any word. */
const MAX_SERIES = 1_000

const SINCE = 'since this instance of the router began.'

export const ROUTER_METRICS = {
  baton_requests_total: {
    help: `Requests by route, method and status, ${SINCE}`,
    labels: ['route', 'method', 'status'],
  },
  baton_problems_total: { help: `Refusals by code, ${SINCE}`, labels: ['code'] },
  baton_participant_silences_total: {
    help: `How often a participant did not answer the router, ${SINCE}`,
    labels: ['participant'],
  },
} as const

type Name = keyof typeof ROUTER_METRICS

export class Metrics {
  /** By the values of the labels, one on each line. */
  private readonly counts: { readonly [name in Name]: Map<string, number> } = {
    baton_requests_total: new Map(),
    baton_problems_total: new Map(),
    baton_participant_silences_total: new Map(),
  }

  request(route: string, method: string, status: number): void {
    this.add('baton_requests_total', `${route}\n${method}\n${status}`)
  }

  problem(code: string): void {
    this.add('baton_problems_total', code)
  }

  silence(participant: number): void {
    this.add('baton_participant_silences_total', String(participant))
  }

  /** `more` is text of the same format. */
  render(more: string): string {
    const lines: string[] = []
    for (const [name, { help, labels }] of Object.entries(ROUTER_METRICS)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`)
      for (const [values, count] of this.counts[name as Name])
        lines.push(`${name}{${labelled(labels, values)}} ${count}`)
    }
    const text = `${lines.join('\n')}\n`
    return more === '' ? text : `${text}${more.trimEnd()}\n`
  }

  private add(name: Name, values: string): void {
    const counts = this.counts[name]
    const count = counts.get(values)
    if (count !== undefined || counts.size < MAX_SERIES) counts.set(values, (count ?? 0) + 1)
  }
}

function labelled(labels: readonly string[], values: string): string {
  const escaped = values.replaceAll('\\', '\\\\').replaceAll('"', '\\"').split('\n')
  return labels.map((label, index) => `${label}="${escaped[index]}"`).join(',')
}
