/** The consensus below `wme-consensus`: promises, acceptances and decisions. */
import type { Mutant } from './catalogue.ts'
import { CONSENSUS, lines, SHARED } from './sources.ts'

/** Each of the two stands behind the other. */
const GAP_BEFORE = '  if (previous > lengthOf(durable)) return false\n'
const GAP_WITHIN = 'position > lengthOf(durable) + 1 || '
const GAPS = `${GAP_BEFORE}  const before = acceptedThrough(durable, ballot)
  let position = previous
  for (const command of commands) {
    position++
    if (position <= before || position > durable.machine.applied + uncommitted) continue
    // Before this, a change of the members was decided: it is applied first (rules M2, P7).
    applyThrough(step, Math.min(decided, position - 1, acceptedThrough(durable, ballot)))
    if (position > decided && config !== configIn(durable.machine)) break
    if (${GAP_WITHIN}`

export const consensusPaxosMutants: Mutant[] = [
  {
    id: 'consensus-promise-not-durable',
    trap: 'durable: promise',
    title: 'a promise is given before it is written',
    file: CONSENSUS.log,
    find: "  save(step, 'acceptor', durable.acceptor)\n",
    replace: '',
  },
  {
    id: 'consensus-accepted-not-durable',
    trap: 'durable: accepted',
    title: 'an acknowledgement is sent before what is acknowledged is written',
    file: CONSENSUS.log,
    find: '  save(step, logKey(entry.position), entry)\n',
    replace: '',
  },
  {
    id: 'consensus-accepts-below-promise',
    trap: 'Paxos',
    title: 'a proposal in a lower ballot than the promised one is accepted',
    file: CONSENSUS.instances,
    find: '  if (ballot < durable.acceptor.promised) {',
    replace: '  if (ballot < 0) {',
  },
  {
    id: 'consensus-promises-below-promise',
    trap: 'Paxos',
    title: 'a lower ballot than the promised one is promised',
    file: CONSENSUS.candidacy,
    find: lines(
      "  if (message.ballot < promised) return send(step, from, { type: 'reject', promised })",
      '  promise(step, message.ballot)',
      '  send(step, from, promiseOf(step))',
    ),
    replace: lines(
      '  promise(step, Math.max(message.ballot, promised))',
      '  send(step, from, { ...promiseOf(step), ballot: message.ballot })',
    ),
  },
  {
    id: 'consensus-ignores-accepted',
    trap: 'Paxos',
    title: 'a new coordinator takes over only what it has accepted itself',
    file: CONSENSUS.candidacy,
    find: '  for (const entry of ofSet.flatMap(({ entries }) => entries)) {',
    replace: '  for (const entry of undecided(durable)) {',
  },
  {
    id: 'consensus-lowest-ballot',
    trap: 'Paxos',
    title: 'of two accepted commands, that of the lower ballot is proposed again',
    file: CONSENSUS.candidacy,
    find: '    if (other === undefined || other.ballot < entry.ballot) accepted',
    replace: '    if (other === undefined || other.ballot > entry.ballot) accepted',
  },
  {
    id: 'consensus-minority-promises',
    trap: 'Paxos',
    title: 'a new coordinator does not wait for the promises of a majority',
    file: CONSENSUS.candidacy,
    find: '  if (here.length < majorityOf(step)) return\n',
    replace: '  if (here.length < 2) return\n',
  },
  {
    id: 'consensus-late-promise',
    trap: 'Paxos',
    title: 'a promise of an earlier ballot counts for this one',
    file: CONSENSUS.candidacy,
    find: '  if (candidacy?.ballot === message.ballot) candidacy.promises[from] = message',
    replace: '  if (candidacy !== null) candidacy.promises[from] = message',
  },
  {
    id: 'consensus-behind-coordinator',
    trap: 'Paxos',
    title: 'a new coordinator begins before it knows all that the others know to be decided',
    file: CONSENSUS.candidacy,
    find: '  if (furthest > durable.machine.applied)\n',
    replace: '  if (furthest < 0)\n',
  },
  {
    id: 'consensus-decided-alone',
    trap: 'P3 outcome before the decision',
    title: 'a command that one participant has accepted is decided',
    file: CONSENSUS.instances,
    find: '  applyThrough(step, Math.min(own, reachedByMajorityOf(membersOf(step), through)))',
    replace: '  applyThrough(step, own)',
  },
  {
    id: 'consensus-acknowledged-in-any-ballot',
    trap: 'Paxos',
    title: 'acknowledgements of different ballots are counted together',
    file: CONSENSUS.instances,
    find: '  if (ballot < acknowledged.ballot) return\n',
    replace: '',
  },
  {
    id: 'consensus-old-acknowledgements-count',
    trap: 'Paxos',
    title: 'an acknowledgement of an earlier ballot counts in the next',
    file: CONSENSUS.instances,
    find: lines('    acknowledged.ballot = ballot', '    acknowledged.through.fill(0)'),
    replace: '    acknowledged.ballot = ballot',
  },
  {
    id: 'consensus-acknowledges-other-ballots',
    trap: 'Paxos',
    title: 'a command accepted in another ballot is acknowledged in this one',
    file: CONSENSUS.log,
    find: '  while (entryAt(durable, position + 1)?.ballot === ballot) position++',
    replace: '  while (entryAt(durable, position + 1) !== undefined && ballot >= 0) position++',
  },
  {
    id: 'consensus-decision-of-another-ballot',
    trap: 'P2 applied in order',
    title: 'a decision applies what was accepted in another ballot',
    file: CONSENSUS.instances,
    find: '  applyThrough(step, Math.min(message.decided, through))',
    replace: '  applyThrough(step, Math.min(message.decided, lengthOf(durable)))',
  },
  {
    id: 'consensus-proposal-of-another-ballot',
    trap: 'P2 applied in order',
    title: 'a proposal that says what is decided applies what was accepted in another ballot',
    file: CONSENSUS.instances,
    find: '  applyThrough(step, Math.min(decided, through))',
    replace: '  applyThrough(step, Math.min(decided, lengthOf(durable)))',
  },
  {
    id: 'consensus-gap',
    trap: 'P2 applied in order',
    title: 'a proposal behind a gap is accepted',
    file: CONSENSUS.instances,
    find: GAPS,
    replace: GAPS.replace(GAP_BEFORE, '').replace(GAP_WITHIN, ''),
  },
  {
    id: 'consensus-ballot-of-two',
    trap: 'Paxos',
    title: 'two participants have the same ballot',
    file: SHARED.ballots,
    subject: 'wme-consensus',
    find: 'next * DIGITS + participant :',
    replace: 'next * DIGITS + Math.min(participant, 2) :',
  },
  {
    id: 'ballot-of-a-large-number',
    trap: 'Paxos',
    title: 'participant 257 has the ballots of participant 1',
    file: SHARED.ballots,
    find: '    participant < DIGITS ? ',
    replace: '    participant < TURNS ? ',
  },
  {
    id: 'consensus-blank-votes',
    trap: 'D2',
    title: 'a participant that has lost its storage votes',
    file: CONSENSUS.main,
    find: lines(
      '    else if (step.context.config.self <= step.context.config.participants)',
      "      changeMembership(step, { status: 'excluded' })",
    ),
    replace: lines(
      '    else if (step.context.config.self <= step.context.config.participants)',
      '      initializeMember(step)',
    ),
  },
]
