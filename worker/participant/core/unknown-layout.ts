/** This version of Baton cannot read the storage, and leaves it as it is. */
export class UnknownLayout extends Error {}
