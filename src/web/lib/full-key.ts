/** The key of a token as clients use it; lists have it without its prefix. */
export const fullKey = ({ key }: { readonly key: string }): string => `sk-${key}`
