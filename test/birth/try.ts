import { runSeed } from './run.ts'

const [first, count] = [Number(process.argv[2] ?? 1), Number(process.argv[3] ?? 200)]
const trace = process.argv[4] === 'trace'
const total: Record<string, number> = {}
let steps = 0,
  bad = 0
const t = performance.now()
for (let seed = first; seed < first + count; seed++) {
  const r = runSeed(seed, trace ? l => console.log(l) : null)
  steps += r.steps
  for (const [k, v] of Object.entries(r.counts)) total[k] = (total[k] ?? 0) + v
  if (r.violation) {
    bad++
    if (bad <= 12)
      console.log(seed, r.violation.rule, Math.round(r.violation.at), r.violation.message.slice(0, 300))
  }
}
console.log({ count, bad, steps, ms: Math.round(performance.now() - t), ...total })
