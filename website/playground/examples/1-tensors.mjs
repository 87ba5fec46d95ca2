// Tensors and gradients
import * as torch from "tensorloom";

const x = torch.arange(1, 7).float().reshape(2, 3).requires_grad_();
const y = x.square().sum(1);
console.log("the sums of squares", y);

y.sum().backward();
console.log("and their gradient", x.grad);
console.log(torch.randn([3, 4]).softmax(1));
