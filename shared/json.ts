/** What survives `JSON.stringify` and back unchanged: everything stored, sent or shown is made of it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
