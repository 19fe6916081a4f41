/**
 * The finite field of p^m elements. An element is a number from 0 to p^m - 1: its digits to the base p are the coefficients of a
 * polynomial of degree below m. Polynomials are added coefficient by coefficient and multiplied modulo an irreducible
 * polynomial of degree m, which is found by trying all.
 */
export interface FiniteField {
  readonly order: number
  add(a: number, b: number): number
  negate(a: number): number
  multiply(a: number, b: number): number
  /** Of any element but 0. */
  invert(a: number): number
}

/** `null`: there is a field of this order only if it is a power of a prime. */
export function finiteField(order: number): FiniteField | null {
  const prime = smallestFactor(order)
  let degree = 0
  let rest = order
  while (rest > 1 && rest % prime === 0) {
    rest /= prime
    degree++
  }
  return order > 1 && rest === 1 ? fieldOf(prime, degree) : null
}

function smallestFactor(number: number): number {
  for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) return factor
  return number
}

function fieldOf(prime: number, degree: number): FiniteField {
  const order = prime ** degree
  const modulus = irreducible(prime, degree)
  const add = (a: number, b: number): number => toNumber(plus(toDigits(a), toDigits(b), 1), prime)
  const negate = (a: number): number => toNumber(plus([], toDigits(a), prime - 1), prime)
  const multiply = (a: number, b: number): number =>
    toNumber(remainder(times(toDigits(a), toDigits(b)), modulus, prime), prime)

  function toDigits(value: number): Polynomial {
    return digits(value, prime)
  }
  /** a + factor · b */
  function plus(a: Polynomial, b: Polynomial, factor: number): Polynomial {
    const length = Math.max(a.length, b.length)
    return Array.from({ length }, (_, power) => ((a[power] ?? 0) + factor * (b[power] ?? 0)) % prime)
  }
  function times(a: Polynomial, b: Polynomial): Polynomial {
    const product: number[] = new Array(a.length + b.length).fill(0)
    for (const [i, x] of a.entries()) {
      for (const [j, y] of b.entries()) product[i + j] = (product[i + j]! + x * y) % prime
    }
    return product
  }
  /** The non-zero elements are a group of order - 1 elements, so a^(order - 2) is the inverse of a. */
  function invert(a: number): number {
    let power = 1
    for (let i = 0; i < order - 2; i++) power = multiply(power, a)
    return power
  }
  return { order, add, negate, multiply, invert }
}

// ---------------------------------------------------------------- polynomials over the integers modulo p

/** Coefficients, that of the lowest power first. */
type Polynomial = readonly number[]

function digits(value: number, prime: number): number[] {
  const found: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / prime)) found.push(rest % prime)
  return found
}

const toNumber = (polynomial: Polynomial, prime: number): number =>
  polynomial.reduceRight((value, coefficient) => value * prime + coefficient, 0)

/** What is left of a polynomial after division by one whose highest coefficient is 1. */
function remainder(dividend: Polynomial, divisor: Polynomial, prime: number): number[] {
  const rest = [...dividend]
  const degree = divisor.length - 1
  for (let power = rest.length - 1; power >= degree; power--) {
    const factor = rest[power]!
    for (const [i, coefficient] of divisor.entries()) {
      const at = power - degree + i
      rest[at] = (rest[at]! + (prime - factor) * coefficient) % prime
    }
  }
  return rest.slice(0, degree)
}

/** The first polynomial of this degree, with highest coefficient 1, that no polynomial of at most half its degree divides. */
function irreducible(prime: number, degree: number): Polynomial {
  for (const candidate of monic(prime, degree)) if (!hasFactor(candidate, prime)) return candidate
  throw new Error('there is an irreducible polynomial of every degree')
}

function hasFactor(polynomial: Polynomial, prime: number): boolean {
  for (let degree = 1; degree <= (polynomial.length - 1) / 2; degree++) {
    for (const factor of monic(prime, degree)) {
      if (remainder(polynomial, factor, prime).every(coefficient => coefficient === 0)) return true
    }
  }
  return false
}

function* monic(prime: number, degree: number): Generator<Polynomial> {
  const leading = prime ** degree
  for (let lower = 0; lower < leading; lower++) yield digits(leading + lower, prime)
}
