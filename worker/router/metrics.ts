/** Counters of one isolate, in the text format of Prometheus. They begin at zero whenever an isolate does. */
interface Family {
  readonly help: string
  readonly values: Map<string, number>
}

type Labels = { readonly [label: string]: string | number }

export class Metrics {
  private readonly families = {
    baton_requests_total: family('Requests by route, method and status.'),
    baton_problems_total: family('Refusals by code.'),
    baton_participant_silences_total: family('Participants that did not answer the router in time.'),
  }

  request(route: string, method: string, status: number): void {
    add(this.families.baton_requests_total, { route, method, status })
  }

  problem(code: string): void {
    add(this.families.baton_problems_total, { code })
  }

  silence(participant: number): void {
    add(this.families.baton_participant_silences_total, { participant })
  }

  /** `more` is text of the same format. */
  render(more: string): string {
    const lines: string[] = []
    for (const [name, { help, values }] of Object.entries(this.families)) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} counter`)
      for (const [labels, value] of values) lines.push(`${name}{${labels}} ${value}`)
    }
    const text = `${lines.join('\n')}\n`
    return more === '' ? text : `${text}${more.trimEnd()}\n`
  }
}

function family(help: string): Family {
  return { help, values: new Map() }
}

function add({ values }: Family, labels: Labels): void {
  const text = Object.entries(labels)
    .map(([label, value]) => `${label}="${escapeLabel(String(value))}"`)
    .join(',')
  values.set(text, (values.get(text) ?? 0) + 1)
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
