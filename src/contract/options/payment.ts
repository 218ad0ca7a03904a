import { currencies } from '../money.ts'
import type { Text } from '../text.ts'
import { type MakeSchema, option, section, type Zod } from './define.ts'
import { commaListOf } from './lists.ts'
import { address, choice, integer, line, message, number, type Ratios, ratios, secret, toggle } from './shapes.ts'

const amountMax = 1_000_000

/** Amounts in US dollars, joined by commas, the smallest first. */
const amounts = (z: Zod) =>
  z
    .string()
    .max(1000)
    .transform((text) => [...new Set(commaListOf(text))].sort((a, b) => Number(a) - Number(b)).join(','))
    .refine(
      (text) => commaListOf(text).every(isAmount) && commaListOf(text).length <= 20,
      message('须为最多 20 个正整数', 'must be at most 20 positive whole numbers'),
    )

/** Maps amounts in US dollars to the share of the price that is paid from that amount on. */
const discounts: MakeSchema<Ratios> = (z) =>
  ratios(z).refine(
    (entries) => Object.entries(entries).every(([amount, share]) => isAmount(amount) && share >= 0.01 && share <= 1),
    message('须为正整数数量到 0.01 至 1 的折扣', 'must lead from positive whole amounts to shares between 0.01 and 1'),
  )

function isAmount(text: string): boolean {
  return /^[1-9]\d{0,6}$/.test(text) && Number(text) <= amountMax
}

export const payment = section(
  {
    name: 'payment',
    tab: 'system',
    label: { zh: '支付设置', en: 'Payment settings' },
    help: {
      zh: '支付地址、商户 ID 和商户密钥全部填写后即开启支付宝和微信充值；需要先填写服务器地址。预设数量、折扣和分组倍率对所有支付方式有效。',
      en: 'Alipay and WeChat Pay are enabled when the payment address, merchant ID and merchant key are set. They require the server address. Presets, discounts and group ratios apply to all payment methods.',
    },
    writer: 'root',
  },
  {
    PayAddress: option({
      ...address(),
      label: { zh: '支付地址', en: 'Payment gateway URL' },
      help: { zh: '易支付网关的地址。', en: 'URL of the epay gateway.' },
    }),
    EpayId: option({
      ...line(),
      label: { zh: '易支付商户ID', en: 'Epay merchant ID' },
      help: { zh: '网关分配的商户编号。', en: 'Merchant ID assigned by the gateway.' },
    }),
    EpayKey: option({
      ...secret(),
      label: { zh: '易支付商户密钥', en: 'Epay merchant key' },
      help: {
        zh: '用于签名和校验支付结果，保存后不再显示。',
        en: 'Signs orders and verifies payment results. Never shown again after saving.',
      },
    }),
    CustomCallbackAddress: option({
      ...address(),
      label: { zh: '回调地址', en: 'Callback URL' },
      help: {
        zh: '网关通知支付结果的地址，留空则使用服务器地址。',
        en: 'URL to which the gateway reports payment results. Leave blank to use the server address.',
      },
    }),
    EpayGoodsCheckEnabled: option({
      ...toggle(true),
      label: { zh: '核对商品名称', en: 'Verify the product name' },
      help: {
        zh: '支付结果中的商品名称与订单不同时不入账，并将订单标记为“支付不符”。仅在网关会改写商品名称时关闭。',
        en: 'If the product name of a payment result differs from the order, the payment is not credited and the order is flagged. Disable this only if the gateway rewrites product names.',
      },
    }),
    Price: option({
      ...number(7.3, { min: 0.01, max: 1_000_000 }),
      unit: { zh: '元/美元', en: 'CNY per USD' },
      label: { zh: '充值价格', en: 'Top-up price' },
      help: {
        zh: '通过支付宝或微信充值一美元额度需要支付多少元。',
        en: 'Price of one US dollar of quota with Alipay or WeChat Pay.',
      },
    }),
    MinTopUp: option({
      ...integer(1, { min: 1, max: amountMax }),
      unit: { zh: '美元', en: 'USD' },
      label: { zh: '最低充值数量', en: 'Minimum top-up' },
      help: { zh: '通过支付宝或微信单次充值的最低数量。', en: 'Minimum amount of a top-up with Alipay or WeChat Pay.' },
    }),
    TopupGroupRatio: option({
      default: { default: 1, vip: 1, svip: 1 },
      schema: ratios,
      widget: 'ratio-map',
      label: { zh: '充值分组倍率', en: 'Top-up group ratio' },
      help: {
        zh: '分组名到充值价格倍率的映射，未列出的分组为 1。',
        en: 'Maps groups to multiples of the top-up price. Groups that are not listed pay the normal price.',
      },
    }),
    TopUpPresets: option({
      default: '5,10,20,50,100,200',
      schema: amounts,
      widget: 'tags',
      label: { zh: '充值预设数量', en: 'Top-up presets' },
      help: {
        zh: '钱包页面可一键选择的数量，单位为美元。',
        en: 'Amounts in US dollars that users can select with one click in the wallet.',
      },
    }),
    TopUpDiscounts: option({
      default: {},
      schema: discounts,
      widget: 'ratio-map',
      label: { zh: '充值折扣', en: 'Top-up discounts' },
      help: {
        zh: '美元数量到折扣的映射：充值达到该数量时按此折扣支付，例如 100 → 0.95；取已达到的最大数量。',
        en: 'Maps amounts in US dollars to the share of the price that is paid from that amount, e.g. 100 → 0.95. The largest amount reached applies.',
      },
    }),
  },
)

export const stripe = section(
  {
    name: 'stripe',
    tab: 'system',
    label: { zh: 'Stripe 支付设置', en: 'Stripe' },
    help: {
      zh: 'API 密钥和 Webhook 签名密钥都填写后即开启；需要先填写服务器地址。在 Stripe 后台把 Webhook 指向“{ServerAddress}/api/stripe/webhook”，选择 checkout.session.*、charge.refunded 和 charge.dispute.* 事件。',
      en: 'Enabled when the API key and the signing secret are set. Requires the server address. Point a webhook of your Stripe account to {ServerAddress}/api/stripe/webhook, with the events checkout.session.*, charge.refunded and charge.dispute.*.',
    },
    writer: 'root',
  },
  {
    StripeApiSecret: option({
      ...secret(),
      label: { zh: 'Stripe API 密钥', en: 'Stripe API key' },
      help: {
        zh: 'sk_ 或 rk_ 开头；只需 Checkout Sessions 的写权限，保存后不再显示。',
        en: 'Begins with sk_ or rk_. A restricted key needs write permission for Checkout Sessions only. Never shown again after saving.',
      },
    }),
    StripeWebhookSecret: option({
      ...secret(),
      label: { zh: 'Stripe Webhook 签名密钥', en: 'Stripe webhook signing secret' },
      help: {
        zh: 'whsec_ 开头，用于校验支付结果，保存后不再显示。',
        en: 'Begins with whsec_. Verifies payment results. Never shown again after saving.',
      },
    }),
    StripeCurrency: option({
      ...choice('USD', labelsOf(currencies)),
      label: { zh: 'Stripe 货币', en: 'Stripe currency' },
      help: { zh: '订单以此货币计价。', en: 'Currency of the orders.' },
    }),
    StripeUnitPrice: option({
      ...number(1, { min: 0.01, max: 1_000_000 }),
      unit: { zh: '每美元额度', en: 'per USD of quota' },
      label: { zh: 'Stripe 充值价格', en: 'Stripe price' },
      help: {
        zh: '通过 Stripe 充值一美元额度需要支付多少上述货币。',
        en: 'Price of one US dollar of quota with Stripe, in the currency above.',
      },
    }),
    StripeMinTopUp: option({
      ...integer(1, { min: 1, max: amountMax }),
      unit: { zh: '美元', en: 'USD' },
      label: { zh: 'Stripe 最低充值数量', en: 'Minimum top-up with Stripe' },
      help: {
        zh: '通过 Stripe 单次充值的最低数量；Stripe 自身对金额也有下限。',
        en: 'Minimum amount of a top-up with Stripe. Stripe also has a minimum of its own.',
      },
    }),
  },
)

function labelsOf<Names extends Record<string, { label: Text }>>(names: Names): Record<keyof Names & string, Text> {
  // The entries of an object carry exactly its keys.
  return Object.fromEntries(Object.entries(names).map(([name, { label }]) => [name, label])) as Record<keyof Names & string, Text>
}
