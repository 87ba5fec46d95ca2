// Convolutions of a picture
import * as torch from "tensorloom";
const F = torch.nn.functional;

const [y, x] = torch.meshgrid(torch.linspace(-1, 1, 96), torch.linspace(-1, 1, 96));
const picture = torch.stack([x.add(1).div(2), y.add(1).div(2), x.square().add(y.square()).mul(9).cos().add(1).div(2)]);
show(picture, "a picture");

const grey = picture.mean(0).reshape(1, 1, 96, 96);
const sobel = torch.tensor([-1, 0, 1, -2, 0, 2, -1, 0, 1], { dtype: "float32" }).reshape(1, 1, 3, 3);
const across = F.conv2d(grey, sobel, null, { padding: 1 }),
  down = F.conv2d(grey, sobel.transpose(2, 3), null, { padding: 1 });
show(across.square().add(down.square()).sqrt().squeeze().clamp(0, 1), "its edges");
