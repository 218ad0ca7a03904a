import {
  IconHome,
  IconInfoCircle,
  IconKey,
  IconLogin2,
  IconMessageCircle,
  IconReceipt,
  IconServer2,
  IconSettings,
} from '@tabler/icons-react'
import type { Screen } from './lib/screen.ts'

/** THE table of screens. It drives router, navigation, palette, page titles and access. A new screen is one row here and one folder. */
export const screens: readonly Screen[] = [
  {
    path: '/',
    access: 'public',
    label: { zh: '首页', en: 'Home' },
    icon: IconHome,
    top: true,
    load: () => import('./screens/home/index.tsx'),
  },
  {
    path: '/about',
    access: 'public',
    label: { zh: '关于', en: 'About' },
    icon: IconInfoCircle,
    top: true,
    load: () => import('./screens/about/index.tsx'),
  },
  {
    path: '/login',
    access: 'public',
    label: { zh: '登录', en: 'Log in' },
    icon: IconLogin2,
    load: () => import('./screens/login/index.tsx'),
  },
  {
    path: '/playground',
    access: 'user',
    label: { zh: '操练场', en: 'Playground' },
    icon: IconMessageCircle,
    nav: { group: 'work' },
    load: () => import('./screens/playground/index.tsx'),
  },
  {
    path: '/log',
    access: 'user',
    label: { zh: '日志', en: 'Logs' },
    icon: IconReceipt,
    nav: { group: 'work' },
    load: () => import('./screens/log/index.tsx'),
  },
  {
    path: '/token',
    access: 'user',
    label: { zh: '令牌', en: 'Tokens' },
    icon: IconKey,
    nav: { group: 'work' },
    load: () => import('./screens/tokens/index.tsx'),
  },
  {
    path: '/channel',
    also: ['/channel/add', '/channel/edit/$id'],
    access: 'admin',
    label: { zh: '渠道', en: 'Channels' },
    icon: IconServer2,
    nav: { group: 'manage' },
    load: () => import('./screens/channels/index.tsx'),
  },
  {
    path: '/setting',
    access: 'user',
    label: { zh: '设置', en: 'Settings' },
    icon: IconSettings,
    nav: { group: 'account' },
    load: () => import('./setting.tsx'),
  },
]
