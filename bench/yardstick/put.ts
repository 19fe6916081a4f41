/** Writes a value in the cheapest way: the row of a key that is there already stays in its place. */
export const PUT = 'INSERT INTO state VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value'
