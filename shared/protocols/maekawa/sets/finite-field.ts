/**
 * The finite field of p^m elements. An element is a number from 0 to p^m - 1: its digits in base p are the
 * coefficients of a polynomial of degree below m. Polynomials are added coefficient by coefficient and
 * multiplied modulo an irreducible polynomial of degree m, which is found by trying all.
 */
export interface FiniteField {
  readonly order: number
  add(a: number, b: number): number
  negate(a: number): number
  multiply(a: number, b: number): number
  /** The inverse of any element but 0. */
  invert(a: number): number
}

/** `null` unless the order is a power of a prime: there is no other field. */
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
  const elements = Array.from({ length: order }, (_, element) => digits(element, prime))
  const table = (operation: (a: Polynomial, b: Polynomial) => Polynomial): number[][] =>
    elements.map(a => elements.map(b => toNumber(operation(a, b), prime)))
  const sums = table((a, b) => sum(a, b, prime))
  const products = table((a, b) => remainder(product(a, b, prime), modulus, prime))
  return {
    order,
    add: (a, b) => sums[a]![b]!,
    negate: a => sums[a]!.indexOf(0),
    multiply: (a, b) => products[a]![b]!,
    invert: a => products[a]!.indexOf(1),
  }
}

// ---------------------------------------------------------------- polynomials over the integers modulo p

/** Coefficients, starting with that of the lowest power. */
type Polynomial = readonly number[]

function digits(value: number, prime: number): number[] {
  const found: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / prime)) found.push(rest % prime)
  return found
}

const toNumber = (polynomial: Polynomial, prime: number): number =>
  polynomial.reduceRight((value, coefficient) => value * prime + coefficient, 0)

function sum(a: Polynomial, b: Polynomial, prime: number): number[] {
  const length = Math.max(a.length, b.length)
  return Array.from({ length }, (_, power) => ((a[power] ?? 0) + (b[power] ?? 0)) % prime)
}

function product(a: Polynomial, b: Polynomial, prime: number): number[] {
  const terms: number[] = new Array(a.length + b.length).fill(0)
  for (const [i, x] of a.entries()) {
    for (const [j, y] of b.entries()) terms[i + j] = (terms[i + j]! + x * y) % prime
  }
  return terms
}

/** The remainder of a polynomial after division by one whose highest coefficient is 1. */
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

/**
 * The first polynomial of this degree, with highest coefficient 1, that no polynomial of at most half its
 * degree divides.
 */
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
