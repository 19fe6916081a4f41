/** The protocols that can be explored, and how each is searched. */
import { maekawa } from '../../shared/protocols/maekawa/maekawa.ts'
import type { ProtocolName } from '../../shared/protocols/protocol.ts'
import { ricartAgrawala } from '../../shared/protocols/ricart-agrawala/ricart-agrawala.ts'
import { wme1, wme2 } from '../../shared/protocols/wme/wme.ts'
import { wmeConsensus } from '../../shared/protocols/wme-consensus/wme-consensus.ts'
import type { Bound } from './bound.ts'
import { CONSENSUS_COVERAGE_GOALS, consensusModel } from './consensus-model.ts'
import { COVERAGE_GOALS } from './coverage-goals.ts'
import { LOCK_COVERAGE_GOALS, lockModel } from './lock-model.ts'
import { Search, type SearchOptions, type SearchResult } from './search.ts'
import { wmeModel } from './wme-model.ts'

export type ExploredName = ProtocolName

export const REPLICATED_NAMES: readonly ExploredName[] = ['wme-1', 'wme-2', 'wme-consensus']
export const LOCK_ONLY_NAMES: readonly ExploredName[] = ['ricart-agrawala', 'maekawa']

export const isLockOnly = (name: ExploredName): boolean => LOCK_ONLY_NAMES.includes(name)

export function coverageGoalsOf(name: ExploredName): readonly string[] {
  if (isLockOnly(name)) return LOCK_COVERAGE_GOALS
  return name === 'wme-consensus' ? CONSENSUS_COVERAGE_GOALS : COVERAGE_GOALS
}

export function explore(name: ExploredName, bound: Bound, options: SearchOptions): SearchResult {
  switch (name) {
    case 'wme-1':
      return new Search(wmeModel(wme1), bound).run(options)
    case 'wme-2':
      return new Search(wmeModel(wme2), bound).run(options)
    case 'wme-consensus':
      return new Search(consensusModel(wmeConsensus), bound).run(options)
    case 'ricart-agrawala':
      return new Search(lockModel(ricartAgrawala), bound).run(options)
    case 'maekawa':
      return new Search(lockModel(maekawa), bound).run(options)
  }
}
