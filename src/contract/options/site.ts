import { chatList, knownChats } from '../chats.ts'
import { option, section } from './define.ts'
import { choice, integer, link, number, toggle, units } from './shapes.ts'

export const general = section(
  { name: 'general', tab: 'operation', label: { zh: '通用设置', en: 'General settings' }, writer: 'admin' },
  {
    TopUpLink: option({
      ...link(),
      label: { zh: '充值链接', en: 'Recharge link' },
      help: { zh: '用户购买兑换码的网站；留空则不显示。', en: 'Site where users buy redemption codes; hidden when empty.' },
      writer: 'root',
    }),
    ChatLink: option({
      ...link(),
      label: { zh: '默认聊天页面链接', en: 'Default chat page link' },
      help: {
        zh: '已由聊天设置取代，使用聊天设置时须留空。',
        en: 'Superseded by the chat settings; leave it empty when those are used.',
      },
    }),
    ChatLink2: option({
      ...link(),
      label: { zh: '聊天页面 2 链接', en: 'Chat page 2 link' },
      help: {
        zh: '已由聊天设置取代，使用聊天设置时须留空。',
        en: 'Superseded by the chat settings; leave it empty when those are used.',
      },
    }),
    QuotaPerUnit: option({
      ...number(500_000, { min: 1, max: 1e9, unit: units.quota }),
      label: { zh: '单位美元额度', en: 'Quota per USD' },
      help: {
        zh: '一美元等于多少额度；改变它会改变所有余额和固定价格的美元价值，但不改变倍率计费的额度。',
        en: 'How many quota units are one US dollar; a change alters the dollar value of every balance and the units of fixed prices, not the units charged by ratio.',
      },
      writer: 'root',
    }),
    RetryTimes: option({
      ...integer(0, { min: 0, max: 100, unit: units.times }),
      label: { zh: '失败重试次数', en: 'Failed retry times' },
      help: {
        zh: '一次请求失败后最多再尝试几个渠道。',
        en: 'How many more channels are tried after a request has failed on one.',
      },
    }),
    StreamCacheQueueLength: option({
      ...integer(0, { min: 0, max: 10_000 }),
      label: { zh: '流式缓冲队列长度', en: 'Stream buffer length' },
      help: {
        zh: '检查生成内容中的屏蔽词时，流中暂缓发送的最后几段文字，使停止前的上文也不会发出；0 表示只暂缓可能是屏蔽词开头的部分。',
        en: 'While completions are checked for listed words, so many of the last pieces of a stream wait, so that what stands before a word that stops it is not sent either; 0 keeps back only what may be the beginning of a word.',
      },
    }),
    ChannelListShape: option({
      ...choice('array', {
        array: { zh: '数组', en: 'Array' },
        paged: { zh: '分页对象', en: 'Page object' },
      }),
      label: { zh: '脚本的渠道列表格式', en: 'Channel lists for scripts' },
      help: {
        zh: '未注明 paged 的调用得到的格式：数组（总数在 X-Total-Count 中），或含 items 与 total 的分页对象。',
        en: 'What a call that does not name paged gets: an array with the number of all in X-Total-Count, or a page with items and total.',
      },
    }),
    DisplayInCurrencyEnabled: option({
      ...toggle(true),
      label: { zh: '以货币形式显示额度', en: 'Display quota as currency' },
      help: { zh: '以美元而非额度数显示余额与费用。', en: 'Shows balances and costs in dollars instead of quota units.' },
    }),
    DisplayTokenStatEnabled: option({
      ...toggle(true),
      label: { zh: '额度查询接口返回令牌额度而非用户额度', en: 'Balance calls answer the quota of the token, not of the user' },
      help: {
        zh: '决定客户端通过 /v1/dashboard/billing 看到的余额。',
        en: 'Decides which balance clients see at /v1/dashboard/billing.',
      },
    }),
    DefaultCollapseSidebar: option({
      ...toggle(false),
      label: { zh: '默认折叠侧边栏', en: 'Collapse the sidebar by default' },
      help: { zh: '用户自己的选择优先。', en: "A user's own choice comes first." },
    }),
    DemoSiteEnabled: option({
      ...toggle(false),
      label: { zh: '演示站点模式', en: 'Demo site mode' },
      help: {
        zh: '控制台只读：除登录和关闭本模式外的修改都会被拒绝。',
        en: 'The console is read-only: every change but signing in and leaving this mode is refused.',
      },
    }),
    SelfUseModeEnabled: option({
      ...toggle(false),
      label: { zh: '自用模式', en: 'Self-use mode' },
      help: {
        zh: '未设置价格的模型也可使用，按默认倍率计费；关闭注册入口的显示。',
        en: 'Models without a price may be used and cost the fallback ratio; the register entry is hidden.',
      },
    }),
    TaskEnabled: option({
      ...toggle(true),
      label: { zh: '启用异步任务功能', en: 'Enable asynchronous tasks' },
      help: { zh: '在侧边栏显示异步任务页面。', en: 'Shows the page of asynchronous tasks in the sidebar.' },
    }),
  },
)

export const chats = section(
  { name: 'chats', tab: 'operation', label: { zh: '令牌聊天设置', en: 'Chat settings' }, writer: 'admin' },
  {
    Chats: option({
      default: knownChats,
      schema: chatList,
      widget: 'chats',
      label: { zh: '聊天配置', en: 'Chat links' },
      help: {
        zh: '名称与链接的列表，按此顺序显示；链接中的 {key} 会替换为用户的令牌，{address} 替换为服务器地址。',
        en: 'Names and links in the order in which they are shown; {key} in a link becomes the token of the user, {address} the server address.',
      },
    }),
  },
)
