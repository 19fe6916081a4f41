import { describe, expect, it } from 'vitest'
import { LOCATIONS } from '../../shared/api/limits.ts'
import { byNearness, distanceKm, whereFrom } from '../../worker/router/nearest.ts'
import { place } from './fake.ts'

const EVERYWHERE = LOCATIONS.map((location, index) => place(index + 1, location))

function requestFrom(cf: unknown): Request {
  return Object.assign(new Request('http://baton.test/'), { cf })
}

function order(cf: unknown, places = EVERYWHERE): (string | null)[] {
  return byNearness(places, whereFrom(requestFrom(cf)), 1).map(({ location }) => location)
}

describe('the nearest location', () => {
  it.each([
    ['Los Angeles', '34.05', '-118.24', 'wnam'],
    ['Seattle', '47.61', '-122.33', 'wnam'],
    ['New York', '40.71', '-74.01', 'enam'],
    ['Toronto', '43.65', '-79.38', 'enam'],
    ['London', '51.51', '-0.13', 'weur'],
    ['Madrid', '40.42', '-3.70', 'weur'],
    ['Kyiv', '50.45', '30.52', 'eeur'],
    ['Hong Kong', '22.32', '114.17', 'apac'],
    ['Tokyo', '35.68', '139.69', 'apac-ne'],
    ['Jakarta', '-6.21', '106.85', 'apac-se'],
    ['Sydney', '-33.87', '151.21', 'oc'],
    ['Auckland', '-36.85', '174.76', 'oc'],
    ['São Paulo', '-23.55', '-46.63', 'enam'],
  ])('of %s', (_, latitude, longitude, location) => {
    expect(order({ latitude, longitude })[0]).toBe(location)
  })

  it.each([
    ['NA', 'enam'],
    ['SA', 'enam'],
    ['EU', 'weur'],
    ['AF', 'weur'],
    ['AS', 'apac'],
    ['OC', 'oc'],
  ])('of the continent %s, if nothing more is known', (continent, location) => {
    expect(order({ continent })[0]).toBe(location)
    expect(order({ continent, latitude: 'x', longitude: '' })[0]).toBe(location)
  })
})

describe('a location that a Worker names', () => {
  it.each(LOCATIONS.filter(location => !['sam', 'afr', 'me'].includes(location)))('%s', batonLocation => {
    expect(order({ batonLocation })[0]).toBe(batonLocation)
    expect(order({ batonLocation, continent: 'OC', latitude: '0', longitude: '0' })[0]).toBe(batonLocation)
  })

  it.each(['moon', 'toString', '', 7, null])('%j is none', batonLocation => {
    expect(whereFrom(requestFrom({ batonLocation }))).toBeNull()
  })
})

describe('the order', () => {
  const places = [place(1, 'apac'), place(2, 'weur'), place(3, 'enam')]

  it('goes from near to far', () => {
    expect(order({ latitude: '48.9', longitude: '2.4' }, places)).toEqual(['weur', 'enam', 'apac'])
    expect(order({ latitude: '1.3', longitude: '103.8' }, places)).toEqual(['apac', 'weur', 'enam'])
  })

  it.each([
    [undefined],
    [null],
    [{}],
    [{ continent: 'T1' }],
    [{ latitude: 'NaN', longitude: '0' }],
    [{ latitude: '91', longitude: '0' }],
  ])('is that of the ids for a request from %j', cf => {
    expect(order(cf, places)).toEqual(['apac', 'weur', 'enam'])
  })

  it('has those last of which nobody knows where they are, the first owner before the others', () => {
    const mixed = [place(1, null), place(2, 'moon'), place(3, 'oc'), place(4, null), place(5, 'weur')]
    const ids = (first: number) =>
      byNearness(mixed, { latitude: 50, longitude: 8 }, first).map(({ id }) => id)
    expect(ids(1)).toEqual([5, 3, 1, 2, 4])
    expect(ids(4)).toEqual([5, 3, 4, 1, 2])
    expect(ids(5)).toEqual([5, 3, 1, 2, 4])
  })

  it('is by the way over the globe and not over the map', () => {
    expect(distanceKm({ latitude: 0, longitude: 179 }, { latitude: 0, longitude: -179 })).toBeCloseTo(222, 0)
    expect(distanceKm({ latitude: 90, longitude: 0 }, { latitude: -90, longitude: 50 })).toBeCloseTo(
      20_015,
      0,
    )
  })
})
