/** A refusal by the code in front of the router. */
import { PROBLEM_MEDIA_TYPE, type ProblemCode, type ProblemOptions, problem } from '../shared/api/problems.ts'
import { requestIdOf } from './request-id.ts'

interface ProblemAnswerOptions extends Pick<ProblemOptions, 'errors'> {
  readonly headers?: { readonly [name: string]: string }
}

export function problemAnswer(
  request: Request,
  code: ProblemCode,
  detail: string,
  { headers, ...options }: ProblemAnswerOptions = {},
): Response {
  const requestId = requestIdOf(request.headers)
  const body = problem(code, detail, { ...options, more: { requestId } })
  return new Response(JSON.stringify(body), {
    status: body.status,
    headers: {
      'content-type': PROBLEM_MEDIA_TYPE,
      'cache-control': 'no-store',
      'x-request-id': requestId,
      ...headers,
    },
  })
}
