/** Counters of one isolate, in the text format of Prometheus. They begin at zero whenever an isolate does. */
/** Routes, statuses, codes and participants are few, but a method can be any word. */
const MOST_SERIES = 1_000

interface Family {
  readonly help: string
  readonly labels: readonly string[]
  /** By the values of the labels, one on each line. */
  readonly counts: Map<string, number>
}

export class Metrics {
  private readonly families = {
    baton_requests_total: family('Requests by route, method and status.', ['route', 'method', 'status']),
    baton_problems_total: family('Refusals by code.', ['code']),
    baton_participant_silences_total: family('Participants that did not answer the router.', ['participant']),
  }

  request(route: string, method: string, status: number): void {
    add(this.families.baton_requests_total, `${route}\n${method}\n${status}`)
  }

  problem(code: string): void {
    add(this.families.baton_problems_total, code)
  }

  silence(participant: number): void {
    add(this.families.baton_participant_silences_total, String(participant))
  }

  /** `more` is text of the same format. */
  render(more: string): string {
    const lines: string[] = []
    for (const [name, { help, labels, counts }] of Object.entries(this.families)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`)
      for (const [values, count] of counts) lines.push(`${name}{${labelled(labels, values)}} ${count}`)
    }
    const text = `${lines.join('\n')}\n`
    return more === '' ? text : `${text}${more.trimEnd()}\n`
  }
}

function family(help: string, labels: readonly string[]): Family {
  return { help, labels, counts: new Map() }
}

function add({ counts }: Family, values: string): void {
  const count = counts.get(values)
  if (count !== undefined || counts.size < MOST_SERIES) counts.set(values, (count ?? 0) + 1)
}

function labelled(labels: readonly string[], values: string): string {
  const escaped = values.replaceAll('\\', '\\\\').replaceAll('"', '\\"').split('\n')
  return labels.map((label, index) => `${label}="${escaped[index]}"`).join(',')
}
