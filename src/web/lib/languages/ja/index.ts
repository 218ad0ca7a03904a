/** 日本語, over English: the texts of its parts together (`npm run languages`). */
const parts = import.meta.glob<Readonly<Record<string, string>>>('./*.json', { eager: true, import: 'default' })

export default Object.assign({}, ...Object.values(parts)) as Readonly<Record<string, string>>
