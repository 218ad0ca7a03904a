import { option, section } from './define.ts'
import { toggle } from './shapes.ts'

export const drawing = section(
  { name: 'drawing', tab: 'operation', label: { zh: '绘图设置', en: 'Drawing settings' }, writer: 'admin' },
  {
    DrawingEnabled: option({
      ...toggle(true),
      label: { zh: '启用绘图功能', en: 'Enable drawing' },
      help: { zh: '在侧边栏显示绘图页面。', en: 'Shows the drawing page in the sidebar.' },
    }),
    MjNotifyEnabled: option({
      ...toggle(false),
      label: { zh: '允许回调（会泄露服务器 IP 地址）', en: 'Allow callbacks (reveals the server’s IP address)' },
      help: {
        zh: '把客户端给出的 notifyHook 转发给上游；客户端没有给出时，上游直接向本站报告进度（须设置服务器地址）。',
        en: 'Forwards the client’s notifyHook to the upstream. If the client sets none, the upstream reports progress to this site, provided that a server address is set.',
      },
    }),
    MjAccountFilterEnabled: option({
      ...toggle(false),
      label: { zh: '允许 accountFilter 参数', en: 'Allow the accountFilter parameter' },
      help: { zh: '允许客户端选择上游账号。', en: 'Lets clients choose the upstream account.' },
    }),
    MjForwardUrlEnabled: option({
      ...toggle(true),
      label: { zh: '将上游地址替换为服务器地址', en: 'Replace upstream URLs with the server address' },
      help: {
        zh: '图片经由本站提供，不暴露上游地址。',
        en: 'Serves images through this site, so that the upstream stays hidden.',
      },
    }),
    MjModeClearEnabled: option({
      ...toggle(false),
      label: { zh: '清除提示词中的 --fast、--relax 和 --turbo', en: 'Remove --fast, --relax and --turbo from prompts' },
      help: { zh: '让渠道决定绘图速度模式。', en: 'Lets the channel choose the speed mode.' },
    }),
    MjActionCheckSuccessEnabled: option({
      ...toggle(true),
      label: { zh: '检测必须等待绘图成功才能进行放大等操作', en: 'Require a successful drawing for follow-up actions' },
      help: {
        zh: '原任务成功之前拒绝放大、变换等操作。',
        en: 'Refuses upscale, variation and other actions until the first task has succeeded.',
      },
    }),
  },
)
