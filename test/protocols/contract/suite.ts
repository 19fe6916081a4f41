/** All tests of the contract. */
import { abilityTests } from './abilities.ts'
import { describeContract, type Subject } from './contract.ts'
import { faultTests } from './faults.ts'
import { insideTests } from './inside.ts'
import { memberTests } from './members.ts'
import { waitingTests } from './waiting.ts'

const TESTS = [...waitingTests, ...insideTests, ...faultTests, ...abilityTests, ...memberTests]

export const keepsContract = (name: string, subject: Subject): void => describeContract(name, subject, TESTS)

export const READERS = 'readers are inside together, and writers are not'
export const NO_READERS = 'a reader is refused where every user is a writer'
