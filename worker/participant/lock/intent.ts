/**
 * What a request is to a lock that is not born. It begins with a `try`, which may leave for the first owner
 * at once; or it uses the lock; or it only looks, and gives birth to nothing.
 */
export type Intent = 'try' | 'use' | 'look'
