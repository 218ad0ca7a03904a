// The pages of the documentation site, in the order of its contents. `users`: everybody may read them; the others are for those who run a
// server. A page `x.zh.md` beside `x.md` is the same page in Chinese.
export const sections = [
  { title: { zh: '使用', en: 'Use' }, isForUsers: true, pages: ['use/calls', 'clients', 'reference/errors'] },
  {
    title: { zh: '运行', en: 'Run' },
    pages: [
      ...['install', 'kubernetes', 'scale-out', 'upgrade', 'backup', 'moving', 'security', 'observability', 'commands'],
      ...['overview', 'alerts', 'failed-calls', 'storage', 'status-page'],
    ].map((name) => `operations/${name}`),
  },
  {
    title: { zh: '配置', en: 'Set up' },
    pages: [
      'channels',
      'advanced-custom-channels',
      'prices',
      'budgets',
      'rate-limits',
      'logins',
      'inspector',
      'quality-checks',
    ].map((name) => `operations/${name}`),
  },
  {
    title: { zh: '参考', en: 'Reference' },
    pages: [
      ...['features', 'environment', 'options', 'channel-types', 'routes', 'hosts-and-members', 'retry-words', 'tiers-and-tools'],
      ...['hold-shapes', 'limits-set-upstream', 'edge-cases', 'known-limits', 'trust-cases', 'glossary'],
    ].map((name) => `reference/${name}`),
  },
  {
    title: { zh: '协议', en: 'Protocols' },
    pages: ['callers', 'upstreams', 'translation', 'token-counts'].map((name) => `reference/protocols/${name}`),
  },
  {
    title: { zh: '比较', en: 'Compare' },
    pages: [...['new-api', 'one-api', 'litellm', 'bifrost'].map((name) => `compare/${name}`), 'roadmap'],
  },
  { title: { zh: '代码', en: 'Code' }, pages: ['architecture', 'tour', 'performance', 'progress'] },
]
