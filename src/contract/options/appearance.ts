import { option, section, type Zod } from './define.ts'
import { content, line, message, toggle } from './shapes.ts'

const image = (z: Zod) =>
  z
    .string()
    .trim()
    .max(100_000)
    .refine(
      (text) => text === '' || /^(https?:\/\/\S+|\/(?!\/)\S*|data:image\/[a-z0-9.+-]+[;,]\S+)$/i.test(text),
      message('须为图片链接', 'must be the link of an image'),
    )

export const appearance = section(
  { name: 'appearance', tab: 'other', label: { zh: '个性化设置', en: 'Appearance' }, writer: 'admin' },
  {
    Notice: option({
      ...content(),
      label: { zh: '公告', en: 'Announcement' },
      help: {
        zh: '在首页向所有访客显示，支持 Markdown 和 HTML。',
        en: 'Shown to all visitors on the home page. Supports Markdown and HTML.',
      },
    }),
    SystemName: option({
      ...line('Sluice', 50),
      label: { zh: '系统名称', en: 'System name' },
      help: { zh: '用于页面标题、邮件和通知。', en: 'Used in page titles, emails and notifications.' },
    }),
    Logo: option({
      default: '',
      schema: image,
      widget: 'url',
      label: { zh: 'Logo 图片地址', en: 'Logo URL' },
      help: { zh: '留空则使用默认图标 /logo.png。', en: 'Leave blank to use the default logo, /logo.png.' },
    }),
    HomePageContent: option({
      ...content(),
      label: { zh: '首页内容', en: 'Home page content' },
      help: {
        zh: '支持 Markdown 和 HTML；若为链接，则嵌入该页面。',
        en: 'Supports Markdown and HTML. If it is a link, that page is embedded.',
      },
    }),
    About: option({
      ...content(),
      label: { zh: '关于', en: 'About' },
      help: {
        zh: '支持 Markdown 和 HTML；若为链接，则嵌入该页面。',
        en: 'Supports Markdown and HTML. If it is a link, that page is embedded.',
      },
    }),
    PricingPublicEnabled: option({
      ...toggle(true),
      label: { zh: '公开模型价格', en: 'Public price list' },
      help: { zh: '关闭后仅登录用户可以查看模型价格页。', en: 'When off, only logged-in users can see model prices.' },
    }),
    Footer: option({
      ...content(),
      label: { zh: '页脚', en: 'Footer' },
      help: { zh: '支持 HTML，留空则使用默认页脚。', en: 'Supports HTML. Leave blank to use the default footer.' },
    }),
  },
)
