/** A key of a token as clients use it; lists carry it without its beginning. */
export const fullKey = ({ key }: { readonly key: string }): string => `sk-${key}`
