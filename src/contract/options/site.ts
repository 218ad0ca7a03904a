import { chatList, knownChats } from '../chats.ts'
import { units } from '../units.ts'
import { option, section } from './define.ts'
import { choice, integer, link, number, toggle } from './shapes.ts'

export const general = section(
  { name: 'general', tab: 'operation', label: { zh: '通用设置', en: 'General settings' }, writer: 'admin' },
  {
    TopUpLink: option({
      ...link(),
      label: { zh: '充值链接', en: 'Recharge link' },
      help: { zh: '用户购买兑换码的网站；留空则不显示。', en: 'Website where users can buy redemption codes. Hidden if blank.' },
      writer: 'root',
    }),
    ChatLink: option({
      ...link(),
      label: { zh: '默认聊天页面链接', en: 'Default chat page link' },
      help: {
        zh: '已由聊天设置取代，使用聊天设置时须留空。',
        en: 'Replaced by the chat settings. Leave blank if you use those.',
      },
    }),
    ChatLink2: option({
      ...link(),
      label: { zh: '聊天页面 2 链接', en: 'Chat page 2 link' },
      help: {
        zh: '已由聊天设置取代，使用聊天设置时须留空。',
        en: 'Replaced by the chat settings. Leave blank if you use those.',
      },
    }),
    QuotaPerUnit: option({
      ...number(500_000, { min: 1, max: 1e9, unit: { zh: '额度', en: 'quota {count|unit|units}' } }),
      label: { zh: '单位美元额度', en: 'Quota per USD' },
      help: {
        zh: '一美元等于多少额度；改变它会改变所有余额和固定价格的美元价值，但不改变倍率计费的额度。',
        en: 'Number of quota units per US dollar. Changing it changes the dollar value of all balances and the units of fixed prices, but not the units charged by ratio.',
      },
      writer: 'root',
    }),
    RetryTimes: option({
      ...integer(0, { min: 0, max: 100, unit: units.retries }),
      label: { zh: '失败重试次数', en: 'Retries on failure' },
      help: {
        zh: '一次请求失败后最多再尝试几个渠道。',
        en: 'Maximum number of further channels to try after a request has failed on one.',
      },
    }),
    StreamCacheQueueLength: option({
      ...integer(0, { min: 0, max: 10_000 }),
      label: { zh: '流式缓冲队列长度', en: 'Stream buffer length' },
      help: {
        zh: '检查生成内容中的屏蔽词时，流中暂缓发送的最后几段文字，使停止前的上文也不会发出；0 表示只暂缓可能是屏蔽词开头的部分。',
        en: 'While completions are checked for sensitive words, this many of the latest chunks of a stream are held back, so that the text before a word that stops the stream is not sent either. 0 holds back only text that may be the beginning of a word.',
      },
    }),
    ChannelListShape: option({
      ...choice('array', {
        array: { zh: '数组', en: 'Array' },
        paged: { zh: '分页对象', en: 'Page object' },
      }),
      label: { zh: '脚本的渠道列表格式', en: 'Channel list format for scripts' },
      help: {
        zh: '未注明 paged 的调用得到的格式：数组（总数在 X-Total-Count 中），或含 items 与 total 的分页对象。',
        en: 'Format for calls without the paged parameter: an array with the total in X-Total-Count, or a page with items and total.',
      },
    }),
    DisplayInCurrencyEnabled: option({
      ...toggle(true),
      label: { zh: '以货币形式显示额度', en: 'Display quota as currency' },
      help: { zh: '以美元而非额度数显示余额与费用。', en: 'Shows balances and costs in US dollars instead of quota units.' },
    }),
    DisplayTokenStatEnabled: option({
      ...toggle(true),
      label: {
        zh: '额度查询接口返回令牌额度而非用户额度',
        en: 'Balance endpoints return the token’s quota instead of the user’s',
      },
      help: {
        zh: '决定客户端通过 /v1/dashboard/billing 看到的余额。',
        en: 'Determines the balance that clients see at /v1/dashboard/billing.',
      },
    }),
    DefaultCollapseSidebar: option({
      ...toggle(false),
      label: { zh: '默认折叠侧边栏', en: 'Collapse the sidebar by default' },
      help: { zh: '用户自己的选择优先。', en: 'The user’s own choice takes precedence.' },
    }),
    DemoSiteEnabled: option({
      ...toggle(false),
      label: { zh: '演示站点模式', en: 'Demo site mode' },
      help: {
        zh: '控制台只读：除登录和关闭本模式外的修改都会被拒绝。',
        en: 'Makes the console read-only: all changes are refused except logging in and turning this mode off.',
      },
    }),
    SelfUseModeEnabled: option({
      ...toggle(false),
      label: { zh: '自用模式', en: 'Self-use mode' },
      help: {
        zh: '未设置价格的模型也可使用，按默认倍率计费；关闭注册入口的显示。',
        en: 'Allows models without a price, charged at the default ratio, and hides the registration link.',
      },
    }),
    TaskEnabled: option({
      ...toggle(true),
      label: { zh: '启用异步任务功能', en: 'Enable asynchronous tasks' },
      help: { zh: '在侧边栏显示异步任务页面。', en: 'Shows the asynchronous tasks page in the sidebar.' },
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
        en: 'Names and links in display order. In links, {key} is replaced by the user’s token and {address} by the server address.',
      },
    }),
  },
)
