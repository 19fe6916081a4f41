/**
 * The sets of all numbers of nodes up to 200, measured: `node test/protocols/maekawa/report-sets.ts` prints
 * the table and writes it into docs/maekawa-sets.md; with `--json` it prints the numbers and writes nothing.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cyclicSets } from '../../../shared/protocols/maekawa/sets/degenerate.ts'
import { projectivePlane } from '../../../shared/protocols/maekawa/sets/projective-plane.ts'
import { memberSets } from '../../../shared/protocols/maekawa/sets/sets.ts'
import { type Measures, measure } from '../../../shared/protocols/maekawa/sets/verify.ts'

export const MOST = 200
export const DOCUMENT = join(import.meta.dirname, '../../../docs/maekawa-sets.md')

export interface Row extends Measures {
  readonly made: 'plane' | 'truncated plane' | 'circle'
}

export function measureAll(): Row[] {
  return Array.from({ length: MOST }, (_, index) => {
    const sets = memberSets(index + 1)
    const made =
      projectivePlane(index + 1) !== null
        ? 'plane'
        : JSON.stringify(sets) === JSON.stringify(cyclicSets(index + 1))
          ? 'circle'
          : 'truncated plane'
    return { ...measure(sets), made }
  })
}

const HEADER = `| N | made from | mean size | largest | least possible | mean / √N | loads |
|---|---|---|---|---|---|---|`

const rowOf = (row: Row): string => {
  const { participants, made, mean, largest, bound, perRoot, leastLoad, greatestLoad } = row
  const loads = leastLoad === greatestLoad ? `${leastLoad}` : `${leastLoad} to ${greatestLoad}`
  const cells = [participants, made, round(mean), largest, bound, perRoot.toFixed(2), loads]
  return `| ${cells.join(' | ')} |`
}

const round = (value: number): string => (Number.isInteger(value) ? `${value}` : value.toFixed(2))

/** The whole document. */
export function render(rows: readonly Row[]): string {
  const of = (made: Row['made']): number => rows.filter(row => row.made === made).length
  const beyond = (first: number): number =>
    Math.max(...rows.filter(({ participants }) => participants >= first).map(({ perRoot }) => perRoot))
  const average = rows.reduce((sum, { perRoot }) => sum + perRoot, 0) / rows.length
  const even = rows.filter(({ leastLoad, greatestLoad }) => leastLoad === greatestLoad).length
  const least = rows.filter(({ mean, bound }) => mean <= bound).length
  const furthest = Math.max(...rows.map(({ largest, bound }) => largest - bound))
  const heaviest = Math.max(...rows.map(({ greatestLoad, mean }) => greatestLoad / mean))
  return `# The sets of Maekawa's algorithm

A node asks the members of its set S_i, itself included. Any two sets have a member in common. Fewer members
mean fewer messages: 3 to 5 for each member but the node itself. More even loads (in how many sets a node is)
mean that the work is shared more evenly. No sets of equal size and load K are smaller than N ≤ K(K - 1) + 1
allows: that is the column *least possible*.

The sets come from one of these constructions (\`shared/protocols/maekawa/sets/\`):

- **plane**: the lines of a projective plane, over a finite field that is computed. For K = 2, 3, 4 and 5 they
  are those of Figure 1.
- **truncated plane**: a plane with a few points and lines less. Lines that met where a point is gone are
  joined by the sets of a small group. The loads are a little uneven.
- **circle**: i + {d_1, …, d_K} modulo N, where every distance is a difference of two of the d. Sizes and
  loads are all equal. A search found the d (\`test/protocols/maekawa/search-covers.ts\`), and they are not
  proved to be the fewest.

Of the truncated plane and the circle, the one with the smaller mean is taken. The pairwise intersections are
verified whenever sets are made. \`node test/protocols/maekawa/report-sets.ts\` measures them and writes this
page.

| for N up to ${rows.length} | |
|---|---|
| planes, truncated planes, circles | ${of('plane')}, ${of('truncated plane')}, ${of('circle')} |
| mean size / √N, average over N | ${average.toFixed(2)} |
| mean size / √N, at most | ${beyond(1).toFixed(2)}; from N = 20 on ${beyond(20).toFixed(2)}; from N = 100 on ${beyond(100).toFixed(2)} |
| mean size at most the least possible K | for ${least} of ${rows.length} |
| largest set above the least possible K | by at most ${furthest} |
| loads all equal | for ${even} of ${rows.length} |
| greatest load / mean load, at most | ${heaviest.toFixed(2)} |

${HEADER}
${rows.map(rowOf).join('\n')}
`
}

if (process.argv[1] === import.meta.filename) {
  const rows = measureAll()
  if (process.argv.includes('--json')) console.log(JSON.stringify(rows))
  else {
    console.log([HEADER, ...rows.map(rowOf)].join('\n'))
    writeFileSync(DOCUMENT, render(rows))
  }
}
