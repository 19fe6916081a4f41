/**
 * Lines of workerd that mean nothing to whoever runs the service. On a busy machine an alarm comes late, or
 * is moved while it runs; the service expects both. workerd marks what is not worth a report with NOSENTRY.
 */
const HARMLESS = [/\bNOSENTRY\b/]

export const isHarmless = (line: string): boolean => HARMLESS.some(pattern => pattern.test(line))
