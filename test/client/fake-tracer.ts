/** A tracer of OpenTelemetry's shape that keeps its spans. */
import type { AttributeValue, Span, Tracer } from '../../client/index.ts'

export const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'

export class FakeSpan implements Span {
  readonly name: string
  readonly kind: number
  readonly id: string
  readonly attributes: { [name: string]: AttributeValue }
  readonly exceptions: Error[] = []
  status: { code: number; message?: string } | null = null
  ends = 0

  constructor(name: string, kind: number, attributes: { [name: string]: AttributeValue }, count: number) {
    this.name = name
    this.kind = kind
    this.attributes = attributes
    this.id = count.toString(16).padStart(16, 'b')
  }
  setAttributes(attributes: { [name: string]: AttributeValue }): this {
    Object.assign(this.attributes, attributes)
    return this
  }
  recordException(exception: Error): void {
    this.exceptions.push(exception)
  }
  setStatus(status: { code: number; message?: string }): this {
    this.status = status
    return this
  }
  end(): void {
    this.ends++
  }
  spanContext() {
    return { traceId: TRACE_ID, spanId: this.id, traceFlags: 1 }
  }
}

/** `change` replaces parts of each span. */
export function fakeTracer(change: Partial<FakeSpan> = {}) {
  const spans: FakeSpan[] = []
  const tracer: Tracer = {
    startActiveSpan(name, { kind, attributes }, run) {
      const span = Object.assign(new FakeSpan(name, kind, attributes, spans.length + 1), change)
      spans.push(span)
      return run(span)
    },
  }
  return { tracer, spans }
}
