/** A time as the API says it. */
export const iso = (ms: number): string => new Date(ms).toISOString()
