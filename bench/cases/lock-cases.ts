/**
 * The cases of everything that is a lock with some state beside it: a subject says how it acquires, writes
 * and releases, and the cases follow. So all of them do the same work in the same pattern.
 */
import { type Case, type CaseName, inTurn, lessOften, randomLocks, together } from '../case.ts'

/** One lock as one client uses it; `Grant` is what the client holds it by. */
export interface Locking<Grant> {
  acquire(lock: string, at?: number): Promise<Grant>
  write(lock: string, grant: Grant): Promise<unknown>
  release(lock: string, grant: Grant): Promise<unknown>
}

const CLIENTS = 10
const MANY_CLIENTS = 50
/** A test that only wants to see everything run takes fewer. */
export const MANY_LOCKS = 100
/** How much less often what many clients do at once is repeated by each of them. */
const CLIENTS_SHARE = 0.2

export type LockCases = { readonly [name in CaseName]?: Case }

/** `name` begins the name of every lock, and `lock` is the one that is used one after the other. */
export function lockCases<Grant>(service: Locking<Grant>, name: string, manyLocks = MANY_LOCKS): LockCases {
  const { acquire, write, release } = service
  const lock = `${name}-lock`
  const cycle = async (of: string, at?: number) => release(of, await acquire(of, at))
  const random = randomLocks(manyLocks)
  let fresh = 0
  return {
    'acquire and release': { run: inTurn(() => cycle(lock, 1)) },
    'one operation': operationCase(service, lock),
    'acquire, operation, release': {
      run: inTurn(async () => {
        const grant = await acquire(lock, 1)
        await write(lock, grant)
        await release(lock, grant)
      }),
    },
    '10 clients at one participant': {
      run: lessOften(
        CLIENTS_SHARE,
        together(CLIENTS, () => cycle(lock, 1)),
      ),
    },
    '50 clients on 100 locks': {
      prepare: once(async () => {
        for (let index = 0; index < manyLocks; index++) await cycle(`${name}-${index}`)
      }),
      run: lessOften(
        CLIENTS_SHARE,
        together(MANY_CLIENTS, () => cycle(`${name}-${random()}`)),
      ),
    },
    'first use of a lock': {
      run: lessOften(
        CLIENTS_SHARE,
        inTurn(() => cycle(`${name}-first-${++fresh}`)),
      ),
    },
  }
}

/** Locks that nobody has used before are a case of their own. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}

/** An operation of a client that has the lock already. */
export function operationCase<Grant>({ acquire, write, release }: Locking<Grant>, lock: string): Case {
  let held: Grant
  return {
    prepare: async () => {
      held = await acquire(lock, 1)
    },
    run: inTurn(() => write(lock, held)),
    finish: () => release(lock, held),
  }
}

/** Where a lock is in several places: clients that are not all at the same one. */
export function movingCases<Grant>(service: Locking<Grant>, name: string, participants: number): LockCases {
  const lock = `${name}-lock`
  const cycle = async (at: number) => service.release(lock, await service.acquire(lock, at))
  let turn = 0
  return {
    'acquire and release, token elsewhere': { run: inTurn(() => cycle((turn++ % 2) + 1)) },
    '10 clients at all participants': {
      run: lessOften(
        CLIENTS_SHARE,
        together(CLIENTS, client => cycle((client % participants) + 1)),
      ),
    },
  }
}

/** One client with a connection of its own, which stays open. */
export interface Session {
  acquire(): Promise<unknown>
  write(): Promise<unknown>
  release(): Promise<unknown>
  close(): void
}

export function sessionCases(open: () => Promise<Session>): LockCases {
  let sessions: Session[] = []
  const opening = (number: number) => async () => {
    sessions = await Promise.all(Array.from({ length: number }, open))
  }
  const finish = async () => {
    for (const session of sessions) session.close()
  }
  const cycle = async (session: Session) => {
    await session.acquire()
    await session.release()
  }
  return {
    'session: acquire and release': {
      prepare: opening(1),
      run: inTurn(() => cycle(sessions[0]!)),
      finish,
    },
    'session: one operation': {
      prepare: async () => {
        await opening(1)()
        await sessions[0]!.acquire()
      },
      run: inTurn(() => sessions[0]!.write()),
      finish: async () => {
        await sessions[0]!.release()
        await finish()
      },
    },
    'session: acquire, operation, release': {
      prepare: opening(1),
      run: inTurn(async () => {
        const [session] = sessions as [Session]
        await session.acquire()
        await session.write()
        await session.release()
      }),
      finish,
    },
    'session: 10 clients': {
      prepare: opening(CLIENTS),
      run: lessOften(
        CLIENTS_SHARE,
        together(CLIENTS, client => cycle(sessions[client]!)),
      ),
      finish,
    },
  }
}
