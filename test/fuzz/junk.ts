/**
 * Values that nobody should send: the small change of all generators. Everything here is text or bytes, never
 * a parsed value.
 */
import type { Random } from '../simulator/random.ts'

/** As they stand in JSON or in a query. */
export const ODD_NUMBERS = [
  '1e400',
  '-1e400',
  '1e-400',
  '-0',
  '0.1',
  '1e3',
  '9007199254740993',
  '-9007199254740993',
  '18446744073709551616',
  '123456789012345678901234567890',
  '0x10',
  '01',
  '+1',
  '1_000',
  'NaN',
  'Infinity',
  '٣',
]

export const ODD_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\u0000'.repeat(50),
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '../../../etc/passwd',
  "'; DROP TABLE log; --",
  '\u202e\u2066\ufeff',
  '\ud800',
  '\udc00x',
  'é'.normalize('NFD'),
  '😀'.repeat(300),
  'a'.repeat(65),
  'a'.repeat(1025),
  'null',
  'undefined',
  '[object Object]',
  '{{7*7}}',
]

/** Of paths and queries: malformed, overlong, forbidden or merely strange. */
export const ODD_ENCODINGS = [
  '%',
  '%2',
  '%zz',
  '%00',
  '%ff',
  '%c0%af',
  '%ed%a0%80',
  '%u0041',
  '%2f',
  '%2F..%2F',
  '%252f',
  '..',
  '.',
  '//',
  ';a=b',
  '%0d%0aX-Injected:%20yes',
  '%f0%9f%98%80',
  '%E2%80%AE',
  '+',
  '{lock}',
  '*',
  '|',
  '"',
  '<script>',
  '~',
  ':',
  '@',
]

/** Text that only looks like JSON, or JSON with a surprise inside. */
export function oddJson(random: Random): string {
  const deep = random.between(60, 20_000)
  return random.pick([
    () => '',
    () => '{',
    () => '{"opId":',
    () => '{"opId":"a","opId":"b"}',
    () => "{'opId': 1}",
    () => '{"a":1,}',
    () => '// comment\n{}',
    () => '\ufeff{}',
    () => '[]',
    () => 'null',
    () => '"text"',
    () => 'true',
    () => random.pick(ODD_NUMBERS),
    () => `${'['.repeat(deep)}${']'.repeat(deep)}`,
    () => '['.repeat(deep),
    () => `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`,
    () => `{"opId":"x","ops":[{"put":"k","value":${'['.repeat(deep)}${']'.repeat(deep)}}]}`,
    () => `{"opId":"x","ops":[${'{"get":"k"},'.repeat(random.between(1, 5_000))}{"get":"k"}]}`,
    () => `{"opId":"x","ops":[{"increment":"k","by":${random.pick(ODD_NUMBERS)}}]}`,
    () => `{"opId":"x","ops":[{"put":"k","value":${random.pick(ODD_NUMBERS)}}]}`,
    () => '{"opId":"\\ud800","ops":[{"get":"\\udfff"}]}',
    () => '{"__proto__":{"opId":"x"},"constructor":{"prototype":{}}}',
    () => `{${Array.from({ length: random.between(1, 2_000) }, (_, index) => `"k${index}":1`).join(',')}}`,
    () => `{"x":"${'y'.repeat(random.between(1, 100_000))}"}`,
    () => `{"opId":"x"}${random.pick(['}', ' x', '\u0000', '{}'])}`,
  ])()
}

export function randomBytes(random: Random, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at++) bytes[at] = random.below(256)
  return bytes
}
