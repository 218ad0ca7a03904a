/** The lease of a hold that belongs to no node, so that none takes it over: it stands until its order is settled. */
export const endlessLease = Number.MAX_SAFE_INTEGER
