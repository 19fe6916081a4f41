/** Lets the plan's faults happen at their times. */
import type { Fault } from './plan-faults.ts'
import type { SimObject } from './sim-object.ts'
import type { Site } from './site.ts'
import type { World } from './world.ts'

type FaultOf<Type extends Fault['type']> = Extract<Fault, { readonly type: Type }>

const PATIENCE_MS = 200

export class FaultInjector {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  plan(): void {
    const { loop, plan } = this.#world
    for (const fault of plan.faults) {
      loop.at(fault.at, () => {
        this.#world.note('', `FAULT ${JSON.stringify(fault)}`)
        this.#happen(fault)
      })
    }
  }

  /** What lasts ends by itself, unless everything was healed before. */
  #endAfter(forMs: number, end: () => void): void {
    this.#world.loop.after(forMs, () => {
      if (!this.#world.isHealed) end()
    })
  }

  #happen(fault: Fault): void {
    switch (fault.type) {
      case 'crash':
        return this.#object(fault)?.crashAfter(fault.afterCalls)
      case 'fail-write':
        return this.#object(fault)?.failAfter(fault.afterWrites)
      case 'evict':
        if (this.#object(fault)?.evict()) this.#world.counts.evictions++
        return
      case 'supersede':
        if (this.#object(fault)?.supersede()) this.#world.counts.superseded++
        return
      case 'wipe-object':
        return this.#wipeObject(fault)
      case 'kill':
        this.#world.counts.kills++
        return this.#kill(this.#site(fault), fault.forMs, false)
      case 'wipe-site':
        return this.#wipeSite(fault)
      case 'restart-router':
        return this.#restartRouter(fault)
      case 'deploy':
        return this.#deploy(fault)
      case 'drop-sockets':
        for (const object of this.#world.objectsAt(this.#site(fault))) {
          for (const socket of [...object.sockets]) socket.breakOff()
        }
        return
      case 'clock':
        this.#world.counts.clockJumps++
        this.#site(fault).clockOffsetMs += fault.byMs
        return
      default:
        return this.#last(fault)
    }
  }

  #last(fault: FaultOf<'freeze' | 'disk' | 'alarms' | 'partition' | 'one-way' | 'slow'>): void {
    const { counts } = this.#world
    switch (fault.type) {
      case 'partition':
        counts.partitions++
        return this.#partition(fault)
      case 'one-way':
        counts.oneWayPartitions++
        return this.#oneWay(fault)
      case 'freeze': {
        counts.freezes++
        const site = this.#site(fault)
        site.freeze()
        return this.#endAfter(fault.forMs, () => site.resume())
      }
      case 'slow': {
        counts.slowdowns++
        const site = this.#site(fault)
        site.slowMs += fault.byMs
        return this.#endAfter(fault.forMs, () => {
          site.slowMs -= fault.byMs
        })
      }
      case 'disk': {
        const site = this.#site(fault)
        site.disk = fault.state
        return this.#endAfter(fault.forMs, () => {
          site.disk = 'well'
        })
      }
      case 'alarms': {
        const site = this.#site(fault)
        site.alarms = fault.mode
        return this.#endAfter(fault.forMs, () => {
          site.alarms = 'on time'
        })
      }
    }
  }

  #site({ site }: { readonly site: number }): Site {
    return this.#world.sites[site]!
  }

  #object({
    lock,
    participant,
  }: {
    readonly lock: string
    readonly participant: number
  }): SimObject | undefined {
    const { objects, plan } = this.#world
    const name = `${lock}/${participant}`
    return objects.get(plan.deployment.kind === 'single' ? name : `p${participant}:${name}`)
  }

  // ---------------------------------------------------------------- a whole site

  #kill(site: Site, forMs: number, isWiped: boolean): void {
    const world = this.#world
    if (!site.isUp) return
    const objects = world.objectsAt(site)
    for (const object of objects) if (object.isAwake) object.crash('killed')
    site.stop()
    if (isWiped) for (const object of objects) object.wipe()
    this.#endAfter(forMs, () => world.start(site))
  }

  /** On the platform of a single deployment a region does not lose its storage. */
  #wipeSite(fault: FaultOf<'wipe-site'>): void {
    const { plan, losses, loop, isHealed, counts } = this.#world
    if (plan.deployment.kind === 'single' || isHealed) return
    if (fault.isPatient && !losses.areHealed) {
      loop.after(PATIENCE_MS, () => this.#wipeSite(fault))
      return
    }
    if (fault.isPatient && counts.sitesWiped > 0) counts.wipesOneAfterTheOther++
    counts.sitesWiped++
    this.#kill(this.#site(fault), fault.forMs, true)
  }

  #wipeObject(fault: FaultOf<'wipe-object'>): void {
    const object = this.#object(fault)
    if (object === undefined || !this.#world.losses.mayWipe(object)) return
    this.#world.counts.objectsWiped++
    object.wipe()
  }

  #deploy({ site: index, version }: FaultOf<'deploy'>): void {
    const site = this.#world.sites[index]!
    this.#world.counts.deployments++
    site.version = version
    for (const object of this.#world.objectsAt(site)) if (object.isAwake) object.crash()
  }

  #restartRouter({ router }: FaultOf<'restart-router'>): void {
    const restarted = this.#world.routers[router]!
    this.#world.counts.routersRestarted++
    restarted.site.version = restarted.site.version === 0 ? 1 : 0
    restarted.restart()
  }

  // ---------------------------------------------------------------- the network

  #partition({ sites, forMs }: FaultOf<'partition'>): void {
    const { sites: all, routers } = this.#world
    const here = sites.map(index => all[index]!)
    const there = [...all.slice(1).filter(site => !here.includes(site)), ...routers.map(({ site }) => site)]
    const links = here.flatMap(one => there.flatMap(other => [[one, other] as const, [other, one] as const]))
    this.#cut(links, forMs)
  }

  #oneWay({ site: index, direction, routers, forMs }: FaultOf<'one-way'>): void {
    const { sites, routers: allRouters } = this.#world
    const site = sites[index]!
    const others = sites.slice(1).filter(other => other !== site)
    if (routers) others.push(...allRouters.map(router => router.site))
    this.#cut(
      others.map(other => (direction === 'deaf' ? ([other, site] as const) : ([site, other] as const))),
      forMs,
    )
  }

  #cut(links: readonly (readonly [Site, Site])[], forMs: number): void {
    const { network } = this.#world
    for (const [from, to] of links) network.cut(from, to)
    this.#endAfter(forMs, () => {
      for (const [from, to] of links) network.mend(from, to)
    })
  }
}
