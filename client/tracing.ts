/**
 * Spans, one for each call, for a tracer of the shape that OpenTelemetry has (`@opentelemetry/api`, its
 * `Tracer` and `Span`): no package is needed for it, and without a tracer nothing is done.
 */
import { BatonError } from './errors.ts'

export type AttributeValue = string | number | boolean

export interface Attributes {
  readonly [name: string]: AttributeValue
}

/** The part of OpenTelemetry's `Span` that is used here. */
export interface Span {
  setAttributes(attributes: { [name: string]: AttributeValue }): unknown
  recordException(exception: Error): void
  setStatus(status: { code: number; message?: string }): unknown
  end(): void
  spanContext?(): { readonly traceId: string; readonly spanId: string; readonly traceFlags: number }
}

/** The part of OpenTelemetry's `Tracer` that is used here. */
export interface Tracer {
  startActiveSpan<T>(
    name: string,
    options: { kind: number; attributes: { [name: string]: AttributeValue } },
    run: (span: Span) => T,
  ): T
}

/** What is known of a call, as it becomes known. */
export type Note = (attributes: Attributes) => void

/** OpenTelemetry's `SpanKind.CLIENT` and `SpanStatusCode.ERROR`. */
const CLIENT = 2
const ERROR = 2

/** Runs a call in a span of its own, which tells what the call noted and how it ended. */
export function inSpan<T>(
  tracer: Tracer,
  name: string,
  attributes: Attributes,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  return start(tracer, name, attributes, async span => {
    try {
      const result = await work(span)
      span.end()
      return result
    } catch (error) {
      endWith(span, error)
      throw error
    }
  })
}

/** A span for what goes on after the function that began it: whoever begins it also ends it. */
export function beginSpan(tracer: Tracer, name: string, attributes: Attributes): Span {
  return start(tracer, name, attributes, span => span)
}

/** Ends a span, with the error if there was one. */
export function endWith(span: Span, error: unknown): void {
  if (error !== undefined) {
    span.setAttributes(attributesOf(error))
    if (error instanceof Error) span.recordException(error)
    span.setStatus({ code: ERROR, message: error instanceof Error ? error.message : String(error) })
  }
  span.end()
}

function start<T>(tracer: Tracer, name: string, attributes: Attributes, run: (span: Span) => T): T {
  return tracer.startActiveSpan(`baton.${name}`, { kind: CLIENT, attributes: { ...attributes } }, run)
}

function attributesOf(error: unknown): { [name: string]: AttributeValue } {
  if (!(error instanceof BatonError)) return {}
  const { code, outcome, requestId } = error
  return {
    'baton.error': code,
    ...(outcome !== undefined && { 'baton.outcome': outcome }),
    ...(requestId !== undefined && { 'baton.request_id': requestId }),
  }
}

/**
 * The header by which the service, and whoever stands in between, can tell to which trace a request belongs.
 */
export function traceparentOf(span: Span): string | undefined {
  const context = span.spanContext?.()
  if (context === undefined || !/[1-9a-f]/.test(context.traceId)) return undefined
  return `00-${context.traceId}-${context.spanId}-${(context.traceFlags & 0xff).toString(16).padStart(2, '0')}`
}
