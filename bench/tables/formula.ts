/**
 * Formulas of N (participants) and K (members of one of Maekawa's sets), as they are printed: `2(N - 1)`, `N²
 * - 1`, `N + (N - 1)/2`. What is printed is what is computed.
 */
export interface Size {
  readonly N: number
  readonly K: number
}

export function evaluate(text: string, size: Size): number {
  const tokens = text.match(/\d+|[NK]|[-+/()²]/g) ?? []
  if (tokens.join('') !== text.replaceAll(' ', '')) throw new Error(`not a formula: ${text}`)
  let place = 0

  const sum = (): number => {
    let value = product()
    while (tokens[place] === '+' || tokens[place] === '-') {
      value += tokens[place++] === '+' ? product() : -product()
    }
    return value
  }

  /** Factors that stand side by side are multiplied. */
  const product = (): number => {
    let value = power()
    for (;;) {
      const token = tokens[place]
      if (token === '/') {
        place++
        value /= power()
      } else if (token === '(' || token === 'N' || token === 'K') value *= power()
      else return value
    }
  }

  const power = (): number => {
    const token = tokens[place++]
    let value: number
    if (token === '(') {
      value = sum()
      if (tokens[place++] !== ')') throw new Error(`a bracket is open: ${text}`)
    } else if (token === 'N' || token === 'K') value = size[token]
    else value = Number(token)
    if (tokens[place] !== '²') return value
    place++
    return value * value
  }

  const value = sum()
  if (place < tokens.length || Number.isNaN(value)) throw new Error(`not a formula: ${text}`)
  return value
}
