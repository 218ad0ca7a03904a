/** The key of a token as clients use it; lists have it without its prefix. */
export const fullKey = ({ key }: { readonly key: string }): string => `sk-${key}`

/** Whether a list has the key of a token: that of a token of another member of an organisation is left out. */
export const hasKey = ({ key }: { readonly key: string }): boolean => key !== ''
