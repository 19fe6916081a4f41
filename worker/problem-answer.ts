/** A refusal by the code in front of the router. */
import { PROBLEM_MEDIA_TYPE, type Problem } from '../shared/api/problems.ts'

export function problemAnswer(problem: Problem, headers: { readonly [name: string]: string } = {}): Response {
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { 'content-type': PROBLEM_MEDIA_TYPE, 'cache-control': 'no-store', ...headers },
  })
}
