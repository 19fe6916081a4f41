/** docs/regions.md: what people who work in several regions can expect, and every figure behind it. */
import { wrap } from '../wrap.ts'
import { type Contender, type Distribution, PLACEMENTS, type Placement, type Row } from './measure.ts'
import { ALL_PLACES, PLACES, type Place, roundTripMs, SOURCE } from './places.ts'
import { type Action, KINDS_OF_WORK, type Work } from './work.ts'
import type { Conditions } from './world.ts'

export interface Measurements {
  readonly conditions: Conditions
  readonly samples: number
  readonly rows: readonly Row[]
}

export const NAMES: { readonly [contender in Contender]: string } = {
  object: 'one object, one call',
  'object, 3 calls': 'one object: lock, write, unlock',
  leader: 'a leader, one write',
  'leader, 3 calls': 'a leader: lock, write, unlock',
  'wme-2': '`wme-2` (the default)',
  'wme-1': '`wme-1`',
  'wme-consensus': '`wme-consensus`',
  'ricart-agrawala': '`ricart-agrawala`',
  maekawa: '`maekawa`',
}

const WORKS = Object.keys(KINDS_OF_WORK) as Work[]

export function page(measurements: Measurements): string {
  const [first] = PLACEMENTS
  return [
    '# Between regions: how long a call takes',
    '`npm run regions -- --write` wrote this page, [regions.svg](regions.svg) and [regions.json](regions.json).',
    wrap(
      'A lock that lives in several regions survives the loss of one of them, and somebody pays for that in ' +
        'milliseconds. This page says who, and how many, before you deploy anything. It is computed, not ' +
        'measured on a network: the protocols are those that are shipped, and the distances are published ' +
        'round-trip times.',
    ),
    summary(measurements, first!),
    '![Latency of acquire and transact, per kind of work](regions.svg)',
    '## What follows from it',
    conclusions(measurements).join('\n'),
    '## A rule of thumb',
    RULE,
    '## What is assumed',
    assumptions(measurements),
    '## Every figure',
    wrap(
      'Milliseconds from the call to its answer: the median, the 90th and the 99th percentile. *Messages* are ' +
        'those between participants (or replicas) for each call; an `acquire` is followed by its release. A lock ' +
        'that guards no state has no `transact`.',
    ),
    ...PLACEMENTS.map(placement => section(measurements, placement)),
    '## Round-trip times',
    wrap(
      `Milliseconds, from [${SOURCE.title}](${SOURCE.url}): the ${SOURCE.dataset}. Of the two directions this ` +
        'is the longer one.',
    ),
    distances(),
    '',
  ].join('\n\n')
}

// ---------------------------------------------------------------- the short version

const SUMMARY: readonly Contender[] = ['wme-2', 'object', 'object, 3 calls', 'leader', 'leader, 3 calls']

const find = ({ rows }: Measurements, { title }: Placement, work: Work, contender: Contender): Row =>
  rows.find(row => row.placement === title && row.work === work && row.contender === contender)!

/** One object or leader takes the lock in one way only, however a `transact` is made of calls. */
const acquireOf = (measurements: Measurements, placement: Placement, work: Work, contender: Contender) =>
  find(measurements, placement, work, contender.replace(', 3 calls', '') as Contender).acquire

function summary(measurements: Measurements, placement: Placement): string {
  const cells = (contender: Contender): string[] =>
    WORKS.flatMap(work => [
      brief(acquireOf(measurements, placement, work, contender)),
      brief(find(measurements, placement, work, contender).transact),
    ])
  const head = WORKS.flatMap(work => [`${work}: acquire`, 'transact'])
  return [
    wrap(
      `This is a lock with ${inWords(placement.participants)}, used from ${placement.audience.length} cities ` +
        'on all continents. Each cell is the median, and the 99th percentile in parentheses, in ' +
        'milliseconds.',
    ),
    '',
    `| | ${head.join(' | ')} |`,
    `|---|${head.map(() => '---|').join('')}`,
    ...SUMMARY.map(contender => `| ${NAMES[contender]} | ${cells(contender).join(' | ')} |`),
    '',
    ...WORKS.map(work => wrap(`- **${work}**: ${KINDS_OF_WORK[work]}`, '  ')),
  ].join('\n')
}

const brief = (distribution: Distribution | null): string =>
  distribution === null ? '-' : `${whole(distribution.p50)} (${whole(distribution.p99)})`

const whole = (milliseconds: number): string => Math.round(milliseconds).toLocaleString('en')

const inWords = (places: readonly Place[]): string => {
  const cities = places.map(place => PLACES[place].city)
  return `participants in ${cities.slice(0, -1).join(', ')} and ${cities.at(-1)}`
}

// ---------------------------------------------------------------- what it means

/** The sentences are fixed; their figures, and which side is quicker, come from the rows. */
function conclusions(measurements: Measurements): string[] {
  const world = PLACEMENTS[0]!
  const europe = PLACEMENTS.find(({ title }) => title.endsWith('all in Europe'))!
  const { nearMs, diskMs } = measurements.conditions
  const median = (placement: Placement, work: Work, contender: Contender, action: Action): number =>
    (action === 'acquire'
      ? acquireOf(measurements, placement, work, contender)
      : find(measurements, placement, work, contender).transact)!.p50
  const ours = (work: Work, action: Action): string => `${whole(median(world, work, 'wme-2', action))} ms`
  const than = (work: Work, action: Action, contender: Contender, name: string): string => {
    const other = median(world, work, contender, action)
    return `${comparison(median(world, work, 'wme-2', action), other)} ${name} (${whole(other)} ms)`
  }
  const [object, leader] = [
    `one object in ${homeOf(measurements, world, 'object')}`,
    `a leader in ${homeOf(measurements, world, 'leader')}`,
  ]
  return [
    `**Taking the lock where it was used last** is what Baton is for: it asks nobody. A local \`acquire\` takes ` +
      `${ours('local', 'acquire')}: ${than('local', 'acquire', 'object', object)} and ` +
      `${than('local', 'acquire', 'leader', leader)}. Most of it is the way to the nearest participant; in a ` +
      `participant's own city it is ${whole(nearMs + diskMs)} ms.`,
    `**A local \`transact\`** also needs one round trip to the nearest other participant: ` +
      `${ours('local', 'transact')}. That is ${than('local', 'transact', 'object', 'one object that does it in one call')}, ` +
      `${than('local', 'transact', 'leader', 'one write to a leader')} and ` +
      `${than('local', 'transact', 'leader, 3 calls', 'lock, write and unlock at a leader')}.`,
    `**If all work comes from one city for good**, nothing beats one object there: ${whole(nearMs + diskMs)} ms for ` +
      'everything, until that region is gone.',
    `**Work that moves with every call** fetches the token each time, and then asks a majority. A moving ` +
      `\`transact\` takes ${ours('moving', 'transact')}: ${than('moving', 'transact', 'object', 'one object')} and ` +
      `${than('moving', 'transact', 'leader', 'one write to a leader')}.`,
    `**Many that want the lock at once** wait for each other's distances. A contended \`transact\` takes ` +
      `${ours('contended', 'transact')}: ` +
      `${than('contended', 'transact', 'object', 'one object that does it in one call')}, because such an object needs ` +
      `no lock at all, and ${than('contended', 'transact', 'object, 3 calls', 'lock, write and unlock at one object')}. ` +
      'If your work fits into one call to one object, and you can live with losing its region, use one object.',
    `**Near each other is cheap.** With ${inWords(europe.participants)}, used from there, a local \`transact\` takes ` +
      `${whole(median(europe, 'local', 'wme-2', 'transact'))} ms (one object: ` +
      `${whole(median(europe, 'local', 'object', 'transact'))} ms) and one that moves ` +
      `${whole(median(europe, 'moving', 'wme-2', 'transact'))} ms. Such a lock survives the loss of any one of the ` +
      'three cities, and not that of the continent.',
    '**What the milliseconds buy**: an object alone is gone with its region, and a client that locked it and then ' +
      'stalled can write late. A leader survives, and takes some seconds to be replaced, which no figure here shows; ' +
      'so does an owner of Baton ([evidence.md](evidence.md)).',
  ].map(sentence => wrap(`- ${sentence}`, '  '))
}

function comparison(own: number, other: number): string {
  if (own < other * 0.95) return 'quicker than'
  return own > other * 1.05 ? 'slower than' : 'about the same as'
}

const homeOf = ({ rows }: Measurements, { title }: Placement, contender: Contender): string =>
  PLACES[rows.find(row => row.placement === title && row.contender === contender)!.home!].city

const RULE = `With \`wme-2\`, where *near* is the round trip from your Worker to the nearest participant:

| call | takes |
|---|---|
| \`acquire\` where the lock was used last | near |
| \`transact\` there | near, and one round trip from that participant to its nearest majority |
| \`acquire\` elsewhere | near, and one round trip from that participant to where the lock was used last |
| \`transact\` elsewhere | all three |

Each comes with some writes to disk. \`test/regions/\` holds this against the code.`

// ---------------------------------------------------------------- how it is computed

function assumptions({ conditions, samples }: Measurements): string {
  const { seed, nearMs, diskMs, spread } = conditions
  return [
    `- **The distances are Azure's**, between cities where Cloudflare has locations too. Cloudflare publishes no table of ` +
      `round-trip times between its own. Each message takes half of the listed round trip, or up to ` +
      `${Math.round(spread * 100)} % less; the list has 95th percentiles, so one in twenty takes a little longer.`,
    `- **Within a city** a round trip takes ${nearMs} ms (\`--near\`).`,
    `- **A write** takes ${diskMs} ms (\`--disk\`), for objects and for the leader's replicas alike. This is an assumption: ` +
      "a Durable Object's write counts when followers in other data centres have it, and Cloudflare names no time for that.",
    '- **One object and the leader stand where they serve their clients best**, and the leader is never replaced.',
    '- **Clients** are Workers, each in one of the cities, and each asks the nearest participant. In São Paulo, ' +
      'Johannesburg and Dubai [Cloudflare keeps no objects](https://developers.cloudflare.com/durable-objects/reference/data-location/), ' +
      'so nobody there is near.',
    '- **Left out**: the time that code takes, the way from the user to the Worker, waking an object that was asleep, ' +
      'lost messages, and failover. [benchmark.md](benchmark.md) has the time that code takes.',
    `- Each distribution is ${samples} calls, equally many from each city, all from seed ${seed}: the same command prints ` +
      'the same page.',
  ]
    .map(item => wrap(item, '  '))
    .join('\n')
}

// ---------------------------------------------------------------- all of it

function section(measurements: Measurements, placement: Placement): string {
  const { title, participants, audience } = placement
  const cities = audience.length === ALL_PLACES.length ? 'everywhere' : 'in the same three cities'
  return [
    `### ${title}`,
    wrap(
      `${capital(inWords(participants))}. Clients are ${cities}. One object would be in ` +
        `${homeOf(measurements, placement, 'object')}, a leader in ${homeOf(measurements, placement, 'leader')}.`,
    ),
    table(measurements, placement),
  ].join('\n\n')
}

const capital = (text: string): string => text[0]!.toUpperCase() + text.slice(1)

function table({ rows }: Measurements, { title }: Placement): string {
  return [
    '| work | | acquire p50 | p90 | p99 | messages | transact p50 | p90 | p99 | messages |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...rows
      .filter(({ placement }) => placement === title)
      .map(
        ({ work, contender, acquire, transact }) =>
          `| ${work} | ${NAMES[contender]} | ${cellsOf(acquire)} | ${cellsOf(transact)} |`,
      ),
  ].join('\n')
}

const cellsOf = (distribution: Distribution | null): string =>
  distribution === null
    ? '- | - | - | -'
    : `${[distribution.p50, distribution.p90, distribution.p99].map(whole).join(' | ')} | ${distribution.messages}`

function distances(): string {
  const short = ALL_PLACES.map(place => PLACES[place].city)
  return [
    `| | Azure's name | hint | ${short.slice(0, -1).join(' | ')} |`,
    `|---|---|---|${short
      .slice(1)
      .map(() => '---|')
      .join('')}`,
    ...ALL_PLACES.map((place, row) => {
      const cells = ALL_PLACES.slice(0, -1).map((other, column) =>
        column < row ? String(roundTripMs(place, other, 0)) : '',
      )
      const { city, azure, hint } = PLACES[place]
      return `| ${city} | ${azure} | ${hint === null ? 'no objects' : `\`${hint}\``} | ${cells.join(' | ')} |`
    }),
  ].join('\n')
}
