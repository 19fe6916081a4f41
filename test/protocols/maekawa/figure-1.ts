/**
 * Figure 1 of the paper. In the text of (d), 20 was misread four times, as 108, $0$, 105 and 50; that each of
 * them must be 20 follows from the other sets. The text of (a) lacks its third set, which can only be {2, 3}.
 */
import type { MemberSets } from '../../../shared/protocols/maekawa/sets/verify.ts'

/** In the order in which they are printed: the node, then its set. */
const PRINTED = {
  a: '1: 1 2; 3: 1 3; 2: 2 3',
  b: '1: 1 2 3; 4: 1 4 5; 6: 1 6 7; 2: 2 4 6; 5: 2 5 7; 7: 3 4 7; 3: 3 5 6',
  c: `1: 1 2 3 4; 5: 1 5 6 7; 8: 1 8 9 10; 11: 1 11 12 13; 2: 2 5 8 11; 6: 2 6 9 12; 7: 2 7 10 13;
    10: 3 5 10 12; 3: 3 6 8 13; 9: 3 7 9 11; 13: 4 5 9 13; 4: 4 6 10 11; 12: 4 7 8 12`,
  d: `1: 1 2 3 4 5; 6: 1 6 7 8 9; 10: 1 10 11 12 13; 14: 1 14 15 16 17; 18: 1 18 19 20 21;
    2: 2 6 10 14 18; 7: 2 7 11 15 19; 8: 2 8 12 16 20; 9: 2 9 13 17 21;
    11: 3 6 11 17 20; 3: 3 7 10 16 21; 13: 3 8 13 15 18; 12: 3 9 12 14 19;
    15: 4 6 12 15 21; 4: 4 7 13 14 20; 17: 4 8 10 17 19; 16: 4 9 11 16 18;
    19: 5 6 13 16 19; 5: 5 7 12 17 18; 21: 5 8 11 14 21; 20: 5 9 10 15 20`,
}

function parse(text: string): MemberSets {
  const sets: number[][] = []
  for (const entry of text.split(';')) {
    const [node, members] = entry.split(':')
    sets[Number(node) - 1] = members!.trim().split(/\s+/).map(Number)
  }
  return sets
}

export const figure1 = {
  a: parse(PRINTED.a),
  b: parse(PRINTED.b),
  c: parse(PRINTED.c),
  d: parse(PRINTED.d),
}
