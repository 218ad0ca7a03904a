import { describe, expect, it } from 'vitest'
import { withoutOperatorDetails } from './operator-details.ts'

describe('a text of an upstream', () => {
  it.each([
    ['Rate limit reached for gpt-4o in organization org-aBcD1234eFgH on tokens', 'org-aBcD1234eFgH'],
    ['Project `proj_9Zx8Yw7` does not have access', 'proj_9Zx8Yw7'],
    ['The resource contoso-eastus2.openai.azure.com refused deployment gpt4-prod-eu', 'contoso', 'gpt4-prod-eu'],
    ['User: arn:aws:iam::123456789012:user/sluice is not authorized', '123456789012', 'user/sluice'],
    ['account 123456789012 exceeded', '123456789012'],
    ['Quota exceeded for consumer project_number:987654321098', '987654321098'],
    ['projects/acme-prod-1/locations/us-central1/endpoints/42 is invalid', 'acme-prod-1'],
    ['in /subscriptions/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f/resourceGroups/rg1', 'rg1', '0a1b2c3d'],
    ['dial tcp 10.0.3.7:8000: connect: connection refused', '10.0.3.7'],
    ['POST http://10.0.3.7:8000/v1/chat/completions failed', '10.0.3.7'],
    ['host vllm-7.internal:8000 is down', 'vllm-7'],
    ['backend vllm-7:8000 is down', 'vllm-7'],
    ['at [fd00::3:7]:8000 and fe80::1%eth0', 'fd00', 'fe80'],
    ['could not reach localhost:11434', 'localhost'],
    ['gateway.relay.example.in said no', 'relay.example'],
    ['contact ops+ai@acme-corp.com for help', 'ops+ai', 'acme-corp'],
    ['root@gpu-01:/srv/models failed', 'gpu-01'],
    ['key AIzaSyA1234567890abcdefghij is bad', 'AIza'],
    ['Incorrect key sk-abc***wxyz', 'wxyz'],
    ['token eyJhbGciOiJIUzI1NiJ9.e30.abc refused', 'eyJ'],
    ['File "/opt/vllm/entrypoints/openai/api_server.py", line 10', '/opt', 'api_server'],
    ['see C:\\Users\\ops\\models', 'ops'],
    ['(request req_011CSHoEeqs5C35K2UUqR7Fy)', 'req_011'],
    ['request id: 5e3a6a1c-8c3d-4a1e-9b1a-2f6f5d0c9a11', '5e3a6a1c'],
    ['upstream {\\"host\\":\\"10.0.3.7\\"}', '10.0.3.7'],
    ['opaque 0123456789abcdef0123456789abcdef', '0123456789abcdef'],
    ['bad value\nTraceback (most recent call last):\n  File "x.py" as deploy', 'deploy'],
  ])('%s hides the details of the operator', (text, ...details) => {
    const told = withoutOperatorDetails(text)
    for (const detail of details) expect(told).not.toContain(detail)
  })

  it.each([
    'prompt is too long: 208732 tokens > 200000 maximum',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    'messages.0.content.1.image.source.base64.data: invalid base64 data',
    'tools.0.custom.input_schema: JSON schema is invalid. It must match https://json-schema.org/draft/2020-12',
    "Invalid 'tools[0].function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.",
    '`temperature` must be between 0 and 1.5, e.g. 0.7',
    'No tool output found for function call call_ACEZHoRLmDG6bCDnMhcyPqJU.',
    'messages.2: `tool_use` ids were found without `tool_result` blocks: toolu_01A09q90qw90lq917835lq9.',
    'claude-sonnet-4-5@20250929, gpt-4.1 and gemini-2.5-pro do not support response_format.json_schema',
    'See https://platform.openai.com/docs/guides/structured-outputs for more.',
    'type.googleapis.com/google.rpc.BadRequest',
    'at 12:30:45 max_tokens:4096 was above 8192',
    'mcp__github_server__create_pull_request_review is too long',
    '请求参数 temperature 无效，取值范围为 [0, 1]',
  ])('%s is unchanged', (text) => {
    expect(withoutOperatorDetails(text)).toBe(text)
  })

  it('keeps the public addresses and the ids that the caller sent, and no address of an inner network', () => {
    const [url, id, inner] = ['https://pics.example.com/a.png?x', '5e3a6a1c-8c3d-4a1e-9b1a-2f6f5d0c9a11', 'http://10.0.3.7/a.png']
    const text = `Error while downloading ${url}, ${id} and ${inner}`
    const sent = Buffer.from(JSON.stringify({ url, id, inner }))
    expect(withoutOperatorDetails(text, sent)).toBe(`Error while downloading ${url}, ${id} and …`)
    expect(withoutOperatorDetails(text)).toBe('Error while downloading …, … and …')
  })
})
